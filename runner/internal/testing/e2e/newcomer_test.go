package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mara/projects/schemas"
	"mara/runner/internal/testing/scripttest"
)

// What a newcomer has, and types. None of it may show anywhere.
const (
	awsKey        = "example-of-an-aws-key"
	linodeToken   = "example-of-a-linode-token"
	ownPassphrase = "a passphrase of one's own"
	ownPassword   = "a-Pa55word-of-one's-own"
)

// newcomer creates a user in an empty directory, with credentials for clouds that are
// stand-ins, and with the tools that the checks ask for. Pulumi's plugins are
// there, too, but do not start: that is where the real clouds begin.
func newcomer(t *testing.T) *environment {
	t.Helper()
	const broken = "exit 1"
	tools := map[string]string{
		"docker": `case "$1" in
			version) echo 29.0.0 ;;
			info) echo '{"ServerVersion": "29.0.0", "CgroupVersion": "2", "MemTotal": 17179869184, "DockerRootDir": "/nowhere"}' ;;
			esac`,
		"kubectl": `echo '{"clientVersion": {"gitVersion": "v1.36.0"}}'`, "aws": broken,
	}
	for plugin := range schemas.Versions() {
		tools["pulumi-resource-"+plugin] = broken
	}
	return &environment{t: t, root: t.TempDir(), home: t.TempDir(), env: []string{
		"PATH=" + scripttest.Directory(t, tools),
		"AWS_ENDPOINT_URL=" + awsStandIn(t), "AWS_ACCESS_KEY_ID=AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=" + awsKey,
		"LINODE_URL=" + linodeStandIn(t), "LINODE_TOKEN=" + linodeToken,
	}}
}

// awsStandIn serves what the runner itself asks of AWS.
func awsStandIn(t *testing.T) (address string) {
	answers := map[string]string{
		"GetCallerIdentity": `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/ann</Arn>
			<Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`,
		"DescribeRegions": `<DescribeRegionsResponse><regionInfo><item><regionName>us-east-1</regionName></item>
			<item><regionName>eu-north-1</regionName></item></regionInfo></DescribeRegionsResponse>`,
		"DescribeAvailabilityZones": `<DescribeAvailabilityZonesResponse><availabilityZoneInfo><item><zoneName>eu-north-1a</zoneName></item>
			<item><zoneName>eu-north-1b</zoneName></item></availabilityZoneInfo></DescribeAvailabilityZonesResponse>`,
		"/cluster-versions": `{"clusterVersions": [{"clusterVersion": "1.36", "versionStatus": "STANDARD_SUPPORT"},
			{"clusterVersion": "1.35", "versionStatus": "EXTENDED_SUPPORT"}]}`,
		"DescribeInstanceTypeOfferings": `<DescribeInstanceTypeOfferingsResponse><instanceTypeOfferingSet>
			<item><instanceType>t3.large</instanceType><location>eu-north-1</location></item>
			<item><instanceType>m6i.large</instanceType><location>eu-north-1</location></item></instanceTypeOfferingSet></DescribeInstanceTypeOfferingsResponse>`,
		"DescribeInstanceTypes": `<DescribeInstanceTypesResponse><instanceTypeSet>
			<item><instanceType>t3.large</instanceType><vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo></item>
			<item><instanceType>m6i.large</instanceType><vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo></item></instanceTypeSet></DescribeInstanceTypesResponse>`,
	}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		action := r.URL.Path
		if r.ParseForm() == nil && r.PostForm.Get("Action") != "" {
			action = r.PostForm.Get("Action")
		}
		if answers[action] == "" {
			t.Errorf("AWS was asked for %s", action)
		}
		fmt.Fprint(w, answers[action])
	})
}

// linodeStandIn serves what the runner itself asks of Linode.
func linodeStandIn(t *testing.T) (address string) {
	answers := map[string]string{
		"/regions":              `{"id": "us-ord", "label": "Chicago, IL", "status": "ok", "capabilities": ["Kubernetes"]}`,
		"/regions/availability": `{"region": "us-ord", "plan": "g8-none", "available": false}`,
		"/lke/versions":         `{"id": "1.36"}, {"id": "1.30"}`,
		"/linode/types": `{"id": "g6-standard-2", "class": "standard", "memory": 4096, "vcpus": 2},
			{"id": "g6-standard-4", "class": "standard", "memory": 8192, "vcpus": 4}`,
	}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, path, _ := strings.Cut(r.URL.Path, "/v4")
		if path == "/profile" {
			fmt.Fprint(w, `{"username": "ann"}`)
			return
		}
		if path == "/account" {
			fmt.Fprint(w, `{"euuid": "E1AF5EEC-526F-487D-B317EBEB34C87D71"}`)
			return
		}
		if answers[path] == "" {
			t.Errorf("Linode was asked for %s", path)
		}
		fmt.Fprintf(w, `{"data": [%s], "page": 1, "pages": 1, "results": 1}`, answers[path])
	})
}

func serve(t *testing.T, handler http.HandlerFunc) (address string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}
