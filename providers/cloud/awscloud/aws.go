// Package awscloud asks AWS, with its own SDK.
package awscloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"mara/projects/model"
	"mara/projects/model/cloud"
)

// anyRegion is the default region: credentials and the list of regions are the same
// everywhere.
const anyRegion = "us-east-1"

// Client asks AWS.
type Client struct{ config aws.Config }

// New makes a client. It reads credentials where AWS's own tools find them, but the
// environment file overrides the process environment, which the SDK would use alone.
func New(ctx context.Context, access cloud.Access) (cloud.Client, error) {
	loaded, err := config.LoadDefaultConfig(ctx, options(access)...)
	if err != nil {
		return nil, explain(err)
	}
	return &Client{loaded}, nil
}

func options(access cloud.Access) []func(*config.LoadOptions) error {
	env := access.Env
	chosen := []func(*config.LoadOptions) error{
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.Proxy = cloud.Proxy(env)
		})),
		config.WithRetryMaxAttempts(2),
		config.WithLogger(logging.Nop{}), // the SDK's own logger writes to stderr; its errors say the same
		config.WithRegion(cmp.Or(access.Region, env["AWS_REGION"], env["AWS_DEFAULT_REGION"], anyRegion)),
	}
	if url := env["AWS_ENDPOINT_URL"]; url != "" {
		chosen = append(chosen, config.WithBaseEndpoint(url))
	}
	if file := env["AWS_CONFIG_FILE"]; file != "" {
		chosen = append(chosen, config.WithSharedConfigFiles([]string{file}))
	}
	if file := env["AWS_SHARED_CREDENTIALS_FILE"]; file != "" {
		chosen = append(chosen, config.WithSharedCredentialsFiles([]string{file}))
	}
	switch key := env["AWS_ACCESS_KEY_ID"]; {
	case access.Profile != "":
		return append(chosen, config.WithSharedConfigProfile(access.Profile))
	case key != "":
		keys := credentials.NewStaticCredentialsProvider(key, env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"])
		return append(chosen, config.WithCredentialsProvider(keys))
	case env["AWS_PROFILE"] != "":
		return append(chosen, config.WithSharedConfigProfile(env["AWS_PROFILE"]))
	}
	return chosen
}

// Account implements cloud.Client.
func (c *Client) Account(ctx context.Context) (cloud.Account, error) {
	answer, err := sts.NewFromConfig(c.config).GetCallerIdentity(ctx, nil)
	if err != nil {
		return cloud.Account{}, explain(err)
	}
	account := cloud.Account{ID: aws.ToString(answer.Account), Name: aws.ToString(answer.Arn)}
	if now, ok := middleware.GetServerTime(answer.ResultMetadata); ok && !now.IsZero() {
		account.ClockAhead = time.Since(now)
	}
	return account, nil
}

// Choices implements cloud.Client.
func (c *Client) Choices(ctx context.Context, list model.List) ([]cloud.Choice, error) {
	return cloud.Lists{
		model.Regions:            c.regions,
		model.Zones:              c.zones,
		model.KubernetesVersions: c.versions,
		model.NodeTypes:          c.nodeTypes,
	}.Choices(ctx, list, explain)
}

// explain returns an error that says in a sentence why AWS gave no answer.
func explain(err error) error {
	if late := cloud.Late("AWS", err); late != nil {
		return late
	}
	var missing config.SharedConfigProfileNotExistError
	var refused smithy.APIError
	switch {
	case errors.As(err, &missing):
		return &cloud.Error{Text: fmt.Sprintf("there is no AWS profile %q", missing.Profile), Err: err,
			Next: "`aws configure list-profiles` lists them"}
	case errors.As(err, &refused):
		return refusal(err, refused)
	case lacksCredentials(err):
		return &cloud.Error{Text: "there are no AWS credentials", Err: err,
			Next: "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use `aws configure`"}
	}
	return cloud.Garbled("AWS", err, rootOf(err).Error())
}

// refusal returns the error that AWS has answered with, in a sentence.
func refusal(err error, refused smithy.APIError) error {
	answer := cloud.Answer{Cloud: "AWS", Reason: refused.ErrorMessage(), Code: refused.ErrorCode()}
	if answer.Code == "UnknownError" { // of the SDK: the answer was a page
		answer.Code, answer.Reason = "", ""
	}
	var answered *smithyhttp.ResponseError
	if errors.As(err, &answered) && answered.Response != nil && answered.Response.Response != nil {
		answer.Status, answer.Header = answered.HTTPStatusCode(), answered.Response.Header
	}
	if _, throttled := retry.DefaultThrottleErrorCodes[answer.Code]; throttled &&
		answer.Status < http.StatusInternalServerError {
		answer.Status = http.StatusTooManyRequests
	}
	explained := answer.Error(err)
	explained.Unsure = answer.Status >= http.StatusInternalServerError || answer.Status == http.StatusTooManyRequests
	explained.Next = cmp.Or(nextFor(answer.Code), explained.Next)
	return explained
}

// lacksCredentials reports whether a call was never sent: the SDK found no credentials, and
// finally tried the metadata service of EC2, which this machine does not have.
func lacksCredentials(err error) bool {
	var call *smithy.OperationError
	for rest := err; errors.As(rest, &call); rest = call.Unwrap() {
		if call.Service() == "ec2imds" {
			return true
		}
	}
	var sent *smithyhttp.RequestSendError
	var answered *smithyhttp.ResponseError
	return !errors.As(err, &sent) && !errors.As(err, &answered)
}

func nextFor(code string) string {
	switch code {
	case "ExpiredToken", "ExpiredTokenException", "RequestExpired":
		return "log in again: the credentials have expired"
	case "InvalidClientTokenId", "SignatureDoesNotMatch", "UnrecognizedClientException", "AuthFailure":
		return "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile"
	case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation":
		return "the credentials are valid, but lack the permission"
	}
	return ""
}

// rootOf returns the innermost cause: the SDK wraps an error many times.
func rootOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
