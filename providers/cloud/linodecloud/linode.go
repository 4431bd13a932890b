// Package linodecloud asks Linode, with its own SDK.
package linodecloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/linode/linodego"

	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
)

// Client asks Linode.
type Client struct {
	api   linodego.Client
	token bool // a token is set
	clock *cloud.Clock
}

// New makes a client. The lists need no token.
func New(_ context.Context, access cloud.Access) (cloud.Client, error) {
	clock := cloud.NewClock(access.Env)
	api := linodego.NewClient(&http.Client{Transport: clock})
	if url := access.Env["LINODE_URL"]; url != "" {
		api.SetBaseURL(url)
	}
	token := access.Env["LINODE_TOKEN"]
	if token != "" {
		api.SetToken(token)
	}
	api.SetRetryCount(0) // the SDK logs each retry to stderr
	api.SetLogger(silent{})
	return &Client{api: api, token: token != "", clock: clock}, nil
}

// silent keeps the SDK from writing to stderr: its errors are reported once.
type silent struct{}

// Errorf implements the SDK's logger.
func (silent) Errorf(string, ...any) {}

// Warnf implements the SDK's logger.
func (silent) Warnf(string, ...any) {}

// Debugf implements the SDK's logger.
func (silent) Debugf(string, ...any) {}

// Account implements cloud.Client.
func (c *Client) Account(ctx context.Context) (cloud.Account, error) {
	if !c.token {
		return cloud.Account{}, &cloud.Error{Text: "there is no Linode token", Next: "set LINODE_TOKEN"}
	}
	name, id := "", ""
	profile, err := c.api.GetProfile(ctx)
	if err == nil {
		name = profile.Username
		if account, err := c.api.GetAccount(ctx); err == nil { // few tokens may read it
			id = account.EUUID
		}
	} else if isRefusal(err) { // a token may be good for clusters, and not for profiles
		name = "a user whom the token does not name"
		_, err = c.api.ListLKEClusters(ctx, linodego.NewListOptions(1, ""))
	}
	if err != nil {
		return cloud.Account{}, explain(ctx, err)
	}
	return cloud.Account{ID: id, Name: name, ClockAhead: c.clock.Ahead}, nil
}

// Choices implements cloud.Client.
func (c *Client) Choices(ctx context.Context, list model.List) ([]cloud.Choice, error) {
	return cloud.Lists{
		model.Regions:            c.regions,
		model.KubernetesVersions: c.versions,
		model.NodeTypes:          c.nodeTypes,
	}.Choices(ctx, list, func(err error) error { return explain(ctx, err) })
}

// Offers implements cloud.Catalogue.
func (c *Client) Offers(ctx context.Context, list model.List, places []string) ([]string, error) {
	if list != model.NodeTypes {
		choices, err := c.Choices(ctx, list)
		return cloud.Names(choices), err
	}
	types, err := c.api.ListTypes(ctx, nil)
	if err != nil {
		return nil, explain(ctx, err)
	}
	absent, err := c.absentFrom(ctx, places)
	if err != nil {
		return nil, explain(ctx, err)
	}
	var names []string
	for _, t := range types {
		if !slices.Contains(absent, t.ID) {
			names = append(names, t.ID)
		}
	}
	return names, nil
}

// absentFrom lists the types that one of the regions does not have or has sold. Linode answers with the types that
// some regions lack only.
func (c *Client) absentFrom(ctx context.Context, regions []string) ([]string, error) {
	if len(regions) == 0 {
		return nil, nil
	}
	all, err := c.api.ListRegionsAvailability(ctx, nil)
	var absent []string
	for _, of := range all {
		if slices.Contains(regions, of.Region) && !of.Available {
			absent = append(absent, of.Plan)
		}
	}
	return absent, err
}

// regions lists the regions that offer Kubernetes.
func (c *Client) regions(ctx context.Context) ([]cloud.Choice, error) {
	regions, err := c.api.ListRegions(ctx, nil)
	if err != nil {
		return nil, err
	}
	var choices []cloud.Choice
	for _, region := range regions {
		if slices.Contains(region.Capabilities, "Kubernetes") && region.Status == "ok" {
			choices = append(choices, cloud.Choice{Value: region.ID, Note: region.Label})
		}
	}
	return cloud.ByValue(choices), nil
}

// versions lists the Kubernetes versions of LKE, the newest first.
func (c *Client) versions(ctx context.Context) ([]cloud.Choice, error) {
	versions, err := c.api.ListLKEVersions(ctx, nil)
	if err != nil {
		return nil, err
	}
	return cloud.NewestFirst(lists.Map(versions, func(version linodego.LKEVersion) cloud.Choice {
		return cloud.Choice{Value: version.ID}
	})), nil
}

// nodeTypes lists types that fit the nodes of a cluster, and Harbor's machine.
func (c *Client) nodeTypes(ctx context.Context) ([]cloud.Choice, error) {
	all, err := c.api.ListTypes(ctx, nil)
	if err != nil {
		return nil, err
	}
	usual := []linodego.LinodeTypeClass{linodego.ClassStandard, linodego.ClassDedicated}
	var choices []cloud.Choice
	for _, t := range all {
		if !slices.Contains(usual, t.Class) || t.Memory < 4096 || t.VCPUs > 16 {
			continue
		}
		note := fmt.Sprintf("%d CPUs, %d GB", t.VCPUs, t.Memory/1024)
		if t.Price != nil {
			note += fmt.Sprintf(", $%g a month", t.Price.Monthly)
		}
		choices = append(choices, cloud.Choice{Value: t.ID, Note: note})
	}
	return choices, nil
}

// isRefusal reports whether Linode refuses the token, for this request or for all.
func isRefusal(err error) bool {
	code := answerOf(err).Code
	return code == http.StatusUnauthorized || code == http.StatusForbidden
}

// answerOf returns the SDK's error, which is a pointer but for pages instead of JSON; empty
// without one.
func answerOf(err error) (answer linodego.Error) {
	var pointer *linodego.Error
	if errors.As(err, &pointer) {
		return *pointer
	}
	errors.As(err, &answer)
	return answer
}

// explain returns an error that says in a sentence why Linode gave no answer.
func explain(ctx context.Context, err error) error {
	if late := cloud.Late("Linode", ctx.Err()); late != nil { // the SDK does not wrap it
		return late
	}
	refused := answerOf(err)
	if refused.Code < http.StatusBadRequest {
		return cloud.Garbled("Linode", err, err.Error())
	}
	answer := cloud.Answer{Cloud: "Linode", Status: refused.Code, Reason: strings.TrimPrefix(refused.Message, "[reason] ")}
	if strings.HasPrefix(refused.Message, "Unexpected Content-Type") { // the SDK quotes the page
		answer.Reason = ""
	}
	if refused.Response != nil {
		answer.Header = refused.Response.Header
	}
	explained := answer.Error(err)
	if refused.Code == http.StatusUnauthorized {
		explained.Next = "check LINODE_TOKEN"
	}
	explained.Unsure = !isRefusal(err)
	return explained
}
