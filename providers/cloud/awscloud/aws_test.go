package awscloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/providers/cloud/awscloud"
)

// aws serves a stand-in that answers by action.
func aws(t *testing.T, answers map[string]string) cloud.Access {
	t.Helper()
	return served(t, func(w http.ResponseWriter, r *http.Request) {
		action := r.URL.Path
		if r.ParseForm() == nil && r.PostForm.Get("Action") != "" {
			action = r.PostForm.Get("Action")
		}
		answer, ok := answers[action]
		if !ok {
			t.Errorf("unexpected call %s %s", action, r.Form)
		}
		if strings.Contains(r.Header.Get("Authorization"), "wrong") {
			t.Errorf("the wrong credentials: %s", r.Header.Get("Authorization"))
		}
		if r.URL.Path != "/" {
			w.Header().Set("Content-Type", "application/json")
		}
		fmt.Fprint(w, answer)
	})
}

func served(t *testing.T, handler http.HandlerFunc) cloud.Access {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return cloud.Access{Region: "eu-north-1", Env: map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "example",
		"AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
	}}
}

func client(t *testing.T, access cloud.Access) cloud.Client {
	t.Helper()
	c, err := awscloud.New(t.Context(), access)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const identity = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::123456789012:user/ann</Arn><UserId>AIDA</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`

func TestAccount(t *testing.T) {
	t.Parallel()
	got, err := client(t, aws(t, map[string]string{"GetCallerIdentity": identity})).Account(t.Context())
	if err != nil || got.String() != "account 123456789012 as arn:aws:iam::123456789012:user/ann" {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestEmptyList: AWS has answered, so nothing is wrong with the credentials.
func TestEmptyList(t *testing.T) {
	t.Parallel()
	const none = `<DescribeRegionsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><regionInfo/></DescribeRegionsResponse>`
	_, err := client(t, aws(t, map[string]string{"DescribeRegions": none})).Choices(t.Context(), model.Regions)
	if err == nil || err.Error() != "the list of regions is empty" {
		t.Errorf("got %v", err)
	}
}

// TestProxyOfTheEnvironmentFile: the SDK would look for one in the environment of
// the process. The stand-in is the proxy; where the question goes is nowhere.
func TestProxyOfTheEnvironmentFile(t *testing.T) {
	t.Parallel()
	asked := ""
	access := served(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		fmt.Fprint(w, identity)
	})
	access.Env["HTTP_PROXY"], access.Env["AWS_ENDPOINT_URL"] = access.Env["AWS_ENDPOINT_URL"], "http://sts.aws.invalid"
	if _, err := client(t, access).Account(t.Context()); err != nil || asked != "http://sts.aws.invalid/" {
		t.Errorf("the proxy was asked for %q, %v", asked, err)
	}
}

// TestEnvironmentFileFirst: the SDK would take the credentials of the process.
func TestEnvironmentFileFirst(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAwrong")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	t.Setenv("AWS_REGION", "wrong-1")
	if _, err := client(t, aws(t, map[string]string{"GetCallerIdentity": identity})).Account(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestChoices(t *testing.T) {
	t.Parallel()
	c := client(t, aws(t, map[string]string{
		"DescribeRegions": `<DescribeRegionsResponse><regionInfo><item><regionName>us-east-1</regionName></item><item><regionName>eu-north-1</regionName></item></regionInfo></DescribeRegionsResponse>`,
		"DescribeAvailabilityZones": `<DescribeAvailabilityZonesResponse><availabilityZoneInfo><item><zoneName>eu-north-1b</zoneName></item>
			<item><zoneName>eu-north-1a</zoneName></item></availabilityZoneInfo></DescribeAvailabilityZonesResponse>`,
		"/cluster-versions": `{"clusterVersions": [
			{"clusterVersion": "1.9", "versionStatus": "EXTENDED_SUPPORT"}, {"clusterVersion": "1.36", "versionStatus": "STANDARD_SUPPORT"},
			{"clusterVersion": "1.35", "versionStatus": "STANDARD_SUPPORT", "defaultVersion": true}]}`,
		"DescribeInstanceTypes": `<DescribeInstanceTypesResponse><instanceTypeSet>
			<item><instanceType>m6i.large</instanceType><vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo><memoryInfo><sizeInMiB>8192</sizeInMiB></memoryInfo></item>
			<item><instanceType>t3.xlarge</instanceType><vCpuInfo><defaultVCpus>4</defaultVCpus></vCpuInfo><memoryInfo><sizeInMiB>16384</sizeInMiB></memoryInfo></item>
			<item><instanceType>c6i.large</instanceType><vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo><memoryInfo><sizeInMiB>4096</sizeInMiB></memoryInfo></item>
			<item><instanceType>m7i.large</instanceType></item>
			</instanceTypeSet></DescribeInstanceTypesResponse>`,
	}))
	for list, want := range map[model.List][]cloud.Choice{
		model.Regions:            {{Value: "eu-north-1"}, {Value: "us-east-1"}},
		model.Zones:              {{Value: "eu-north-1a"}, {Value: "eu-north-1b"}},
		model.KubernetesVersions: {{Value: "1.36"}, {Value: "1.35", Note: "EKS's default"}, {Value: "1.9", Note: "extended support, for a fee"}},
		model.NodeTypes:          {{Value: "m7i.large"}, {Value: "c6i.large", Note: "2 vCPU, 4 GiB"}, {Value: "m6i.large", Note: "2 vCPU, 8 GiB"}, {Value: "t3.xlarge", Note: "4 vCPU, 16 GiB"}},
	} {
		got, err := c.Choices(t.Context(), list)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", list, err, diff)
		}
	}
}

// TestOffers: a cloud names all that it offers; regions are asked for where one certainly is.
func TestOffers(t *testing.T) {
	t.Parallel()
	var asked []string
	access := served(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "/")
		asked = append(asked, r.PostForm.Get("Action")+" "+strings.Split(scope, "/")[1]+" "+r.PostForm.Get("NextToken"))
		switch r.PostForm.Get("Action") + r.PostForm.Get("NextToken") {
		case "DescribeRegions":
			fmt.Fprint(w, `<DescribeRegionsResponse><regionInfo><item><regionName>us-east-1</regionName></item></regionInfo></DescribeRegionsResponse>`)
		case "DescribeInstanceTypeOfferings":
			fmt.Fprint(w, `<DescribeInstanceTypeOfferingsResponse><nextToken>more</nextToken><instanceTypeOfferingSet>
				<item><instanceType>t3.large</instanceType><location>us-est-1</location></item></instanceTypeOfferingSet></DescribeInstanceTypeOfferingsResponse>`)
		case "DescribeInstanceTypeOfferingsmore":
			fmt.Fprint(w, `<DescribeInstanceTypeOfferingsResponse><instanceTypeOfferingSet>
				<item><instanceType>g5.xlarge</instanceType><location>us-est-1</location></item></instanceTypeOfferingSet></DescribeInstanceTypeOfferingsResponse>`)
		default:
			t.Errorf("unexpected call %s", r.PostForm)
		}
	})
	access.Region = "us-est-1"
	c := client(t, access).(cloud.Catalogue)
	for list, want := range map[model.List][]string{model.Regions: {"us-east-1"}, model.NodeTypes: {"g5.xlarge", "t3.large"}} {
		got, err := c.Offers(t.Context(), list, []string{"us-est-1"})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", list, err, diff)
		}
	}
	slices.Sort(asked)
	if diff := cmp.Diff([]string{"DescribeInstanceTypeOfferings us-est-1 ", "DescribeInstanceTypeOfferings us-est-1 more", "DescribeRegions us-east-1 "}, asked); diff != "" {
		t.Error(diff)
	}
}

// TestOffersOfZones: a type that one of the zones lacks is not offered; a zone that does not exist lacks none.
func TestOffersOfZones(t *testing.T) {
	t.Parallel()
	access := served(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		if f := r.PostForm; f.Get("LocationType") != "availability-zone" || f.Get("Filter.1.Name") != "location" ||
			f.Get("Filter.1.Value.1") != "us-east-1a" || f.Get("Filter.1.Value.2") != "us-east-1e" || f.Get("Filter.1.Value.3") != "us-east-9z" {
			t.Errorf("asked for %v", f)
		}
		fmt.Fprint(w, `<DescribeInstanceTypeOfferingsResponse><instanceTypeOfferingSet>
			<item><instanceType>m7i.large</instanceType><location>us-east-1a</location></item>
			<item><instanceType>t2.large</instanceType><location>us-east-1a</location></item>
			<item><instanceType>t2.large</instanceType><location>us-east-1e</location></item></instanceTypeOfferingSet></DescribeInstanceTypeOfferingsResponse>`)
	})
	got, err := client(t, access).(cloud.Catalogue).Offers(t.Context(), model.NodeTypes, []string{"us-east-1a", "us-east-1e", "us-east-9z"})
	if diff := cmp.Diff([]string{"t2.large"}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// TestNoAnswer: whatever happens, there is a sentence that says what, and what
// to do.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	refuse := func(status int, code, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>", code, message)
		}
	}
	for _, tt := range []struct {
		name       string
		handler    http.HandlerFunc
		text, next string
		unsure     bool
	}{
		{"bad credentials", refuse(403, "InvalidClientTokenId", "The security token is invalid"), "AWS refuses: The security token is invalid (InvalidClientTokenId)",
			"check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile", false},
		{"in trouble", refuse(503, "ServiceUnavailable", "later"), "AWS failed: later (ServiceUnavailable)", "try again in a few minutes", true},
		{"in trouble with a page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(503)
			fmt.Fprint(w, "<html><body>Hello</body></html>")
		}, "AWS failed: Service Unavailable (", "try again in 7s", true},
		{"expired", refuse(403, "ExpiredToken", "expired"), "AWS refuses: expired (ExpiredToken)", "log in again: the credentials have expired", false},
		{"throttled", refuse(400, "Throttling", "Rate exceeded"), "AWS refuses: Rate exceeded (Throttling)", "try again in a minute", true},
		{"malformed", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Hello") }, "AWS gave no answer: ", "check the network and its proxy", true},
		{"broken off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "AWS gave no answer: ", "check the network and its proxy", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := client(t, served(t, tt.handler)).Account(t.Context())
			var reported *cloud.Error
			if !errors.As(err, &reported) || !strings.HasPrefix(reported.Text, tt.text) || reported.Next != tt.next || reported.Unsure != tt.unsure {
				t.Errorf("got %#v", err)
			}
		})
	}
}

// TestClock: how far this machine's clock is ahead of AWS's.
func TestClock(t *testing.T) {
	t.Parallel()
	access := served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		fmt.Fprint(w, identity)
	})
	got, err := client(t, access).Account(t.Context())
	if err != nil || got.ClockAhead.Round(time.Minute) != time.Hour {
		t.Errorf("got %s, %v", got.ClockAhead, err)
	}
}

func TestLate(t *testing.T) {
	t.Parallel()
	access := served(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client is gone
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client(t, access).Account(ctx)
	if err == nil || err.Error() != "AWS did not answer in time" {
		t.Errorf("got %v", err)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	access := aws(t, nil)
	access.Profile = "missing"
	if _, err := awscloud.New(t.Context(), access); err == nil || err.Error() != `there is no AWS profile "missing"` {
		t.Errorf("got %v", err)
	}
}

func TestNoCredentials(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"} {
		t.Setenv(name, "")
	}
	for name, value := range map[string]string{
		"AWS_EC2_METADATA_DISABLED":         "true",
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1", // no server listens, as outside of EC2
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			access := aws(t, nil)
			delete(access.Env, "AWS_ACCESS_KEY_ID")
			_, err := client(t, access).Account(t.Context())
			if err == nil || err.Error() != "there are no AWS credentials" {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestNothingIsLogged: what the SDK has to say would come between the questions
// of a first run.
func TestNothingIsLogged(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer func(stderr *os.File) { os.Stderr = stderr }(os.Stderr)
	os.Stderr = file
	old := served(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }) // a machine with IMDSv1 only
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", old.Env["AWS_ENDPOINT_URL"])
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"} {
		t.Setenv(name, "")
	}
	delete(old.Env, "AWS_ACCESS_KEY_ID")
	if _, err := client(t, old).Account(t.Context()); err == nil || err.Error() != "there are no AWS credentials" {
		t.Errorf("got %v", err)
	}
	if logged, err := os.ReadFile(file.Name()); err != nil || len(logged) > 0 {
		t.Errorf("%v: %s", err, logged)
	}
}

func TestRemains(t *testing.T) {
	t.Parallel()
	tag := func(kind, id string) string {
		return "<item><resourceId>" + id + "</resourceId><resourceType>" + kind + "</resourceType></item>"
	}
	c := client(t, aws(t, map[string]string{
		"DescribeTags": `<DescribeTagsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><tagSet>` +
			tag("vpc", "vpc-1") + tag("instance", "i-1") + tag("natgateway", "nat-1") + tag("vpc", "vpc-1") + `</tagSet></DescribeTagsResponse>`,
		"/clusters": `{"clusters": ["mara-try", "mara-other"]}`,
	}))
	left, err := c.(cloud.Inventory).Remains(t.Context(), "try")
	if diff := cmp.Diff([]string{"cluster mara-try", "vpc vpc-1"}, left); err != nil || diff != "" {
		t.Errorf("remains (-want +got):\n%s\nerror %v", diff, err)
	}
}
