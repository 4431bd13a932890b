package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/testing/cloudtest"
)

// emulated creates a newcomer whose credentials are those of an emulated cloud.
func emulated(t *testing.T) (*environment, *cloudtest.Cloud) {
	t.Helper()
	e, c := newcomer(t), cloudtest.New(t)
	e.env = append(e.env, c.Env()...)
	return e, c
}

// TestDoctorAndFaultsOfClouds: the doctor has one sentence about each, with a remedy; only what says that
// credentials are bad is a problem.
func TestDoctorAndFaultsOfClouds(t *testing.T) {
	t.Parallel()
	long(t)
	for provider, title := range map[string]string{"linode": "Linode", "digitalocean": "DigitalOcean"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			e, c := emulated(t)
			e.write("config/pulumi/environment", "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\n")
			e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: "+provider+"\n")
			for _, test := range []struct {
				fault        cloudtest.Fault
				status       preflight.Status
				text, remedy string
			}{
				{cloudtest.Fault{}, preflight.OK, "ann", ""},
				{cloudtest.Fault{Status: 401}, preflight.Problem, title + " refuses: Unauthorized (401)", "check "},
				{cloudtest.Fault{Status: 403}, preflight.Problem, title + " refuses: Forbidden (403)", ""},
				{cloudtest.Fault{Status: 429, RetryAfter: "7"}, preflight.Warning, title + " refuses: Too Many Requests (429)", "try again in 7s"},
				{cloudtest.Fault{Status: 500}, preflight.Warning, title + " failed: Internal Server Error (500)", "try again in a few minutes"},
				{cloudtest.Fault{Status: 503, Body: "<html>hello"}, preflight.Warning, title + " failed: Service Unavailable (503)", "try again in a few minutes"},
				{cloudtest.Fault{Delay: time.Minute}, preflight.Warning, title + " did not answer in time", "check the network"},
			} {
				c.Clear(t)
				c.Set(t, test.fault)
				found, _ := e.findings("up")
				account := found["account"]
				if account.Status != test.status || len(account.Findings) != 1 || !strings.Contains(account.Findings[0].Text, test.text) ||
					!strings.HasPrefix(account.Findings[0].Remedy, test.remedy) {
					t.Errorf("%+v: %+v", test.fault, account)
				}
			}
		})
	}
}

// TestDoctorAndOffersOfClouds: the doctor asks the cloud for the names in the configuration. What the cloud does not
// offer is a problem, for what is deployed a warning; a list that fails costs one sentence, and no token is said.
func TestDoctorAndOffersOfClouds(t *testing.T) {
	t.Parallel()
	long(t)
	const onLinode, onDigitalOcean = "config:\n  kubernetes:infra_type: linode\n", "config:\n  kubernetes:infra_type: digitalocean\n"
	for _, test := range []struct {
		name, config string
		faults       []cloudtest.Fault
		status       preflight.Status
		texts        []string
	}{
		{"all is offered", onLinode, nil, preflight.OK, []string{"there are us-ord, 1.36, g6-standard-4, g6-standard-2"}},
		{"nothing is offered", onLinode + "  lke:region: us-nowhere\n  lke:k8s_version: \"1.37\"\n  lke:node_type: g6-standard-6\n  lke:pools: {more: {size: g6-dedicated-8}}\n", nil, preflight.Problem, []string{
			`lke:region is "us-nowhere", which Linode does not offer; it offers eu-central, us-ord`,
			`lke:k8s_version is "1.37", which Linode does not offer; did you mean "1.36"?`,
			`lke:node_type is "g6-standard-6", which Linode does not offer; did you mean "g6-standard-2"?`,
			`lke:pools has "g6-dedicated-8", which Linode does not offer; it offers g6-standard-2, g6-standard-4`,
		}},
		{"a type that one region lacks", onLinode + "  lke:region: eu-central\n", nil, preflight.Problem, []string{
			`lke:node_type is "g6-standard-4", which Linode does not offer in eu-central; did you mean "g6-standard-2"?`}},
		{"a size that one region lacks", onDigitalOcean + "  doks:region: fra1\n  doks:k8s_version: 1.35.2-do.9\n", nil, preflight.Problem, []string{
			`doks:node_size is "s-4vcpu-8gb", which DigitalOcean does not offer in fra1; did you mean "s-2vcpu-4gb"?`}},
		{"one list fails", onLinode, []cloudtest.Fault{{Path: "/v4/lke/versions", Status: 503, Body: "<html>hello"}}, preflight.Warning, []string{
			"Linode failed: Service Unavailable (503); not compared: lke:k8s_version"}},
		{"all lists fail", onLinode, []cloudtest.Fault{{Path: "/v4/regions", Status: 500}, {Path: "/v4/lke/versions", Status: 500}, {Path: "/v4/linode/types", Status: 500}}, preflight.Warning, []string{
			"Linode failed: Internal Server Error (500); not compared: lke:region, lke:k8s_version, lke:node_type, harbor:instance_type"}},
		{"one list is forbidden", onDigitalOcean, []cloudtest.Fault{{Path: "/v2/sizes", Status: 403}}, preflight.Warning, []string{
			"DigitalOcean refuses: Forbidden (403); not compared: doks:node_size"}},
		{"refused", onDigitalOcean, []cloudtest.Fault{{Status: 401}}, preflight.Warning, []string{
			"DigitalOcean refuses: Unauthorized (401); not compared: doks:region, doks:k8s_version, doks:node_size"}},
		{"throttled", onDigitalOcean, []cloudtest.Fault{{Status: 429, RetryAfter: "7"}}, preflight.Warning, []string{
			"DigitalOcean refuses: Too Many Requests (429); not compared: doks:region, doks:k8s_version, doks:node_size"}},
		{"an empty list", onLinode, []cloudtest.Fault{{Path: "/v4/regions", Empty: true}}, preflight.Warning, []string{
			"the list of regions is empty; not compared: lke:region"}},
		{"slow", onDigitalOcean, []cloudtest.Fault{{Path: "/v2/kubernetes", Delay: time.Minute}}, preflight.Warning, []string{
			"DigitalOcean did not answer in time; not compared: doks:region, doks:k8s_version, doks:node_size"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e, c := emulated(t)
			e.write("config/pulumi/environment", "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\n")
			e.write("config/pulumi/Pulumi.dev.yaml", test.config)
			for _, fault := range test.faults {
				c.Set(t, fault)
			}
			found, _ := e.findings("up")
			var texts []string
			for _, finding := range found["offers"].Findings {
				texts = append(texts, finding.Text)
				if strings.Contains(finding.Text+finding.Remedy, cloudtest.Token) || test.status == preflight.Problem && !strings.HasPrefix(finding.Remedy, "set ") {
					t.Errorf("%+v", finding)
				}
			}
			if diff := cmp.Diff(test.texts, texts); diff != "" || found["offers"].Status != test.status {
				t.Errorf("%s: %s", found["offers"].Status, diff)
			}
		})
	}
}

// TestFirstRunWithoutRegions: a list that is empty or fails makes one question free text, not the others.
func TestFirstRunWithoutRegions(t *testing.T) {
	t.Parallel()
	e, c := emulated(t)
	c.Set(t, cloudtest.Fault{Path: "/v4/regions", Empty: true})
	c.Set(t, cloudtest.Fault{Path: "/v4/linode/types", Status: 500, Times: 1})
	s := e.sit("up", "-p", "linode")
	s.answer(typed("Create one?", ""), typed("Name of the stack", ""), typed("Linode region", "us-ord"), chosen("Kubernetes version", "\r"),
		typed("Type of the nodes", "g6-standard-4"), typed("Number of nodes", "5"), chosen("Highly available", "\r"), chosen("Type of the registry", "\r"),
		typed("Address for warnings", ""), chosen("Where certificates", "\r"), typed("Write this", "").ctrlC())
	screen := s.end(130)
	for _, want := range []string{"the list of regions is empty; there is no list to choose from", "Linode failed: Internal Server Error (500); there is no list"} {
		if strings.Count(strings.Join(strings.Fields(screen), " "), want) != 1 {
			t.Errorf("not said once: %s\n%s", want, screen)
		}
	}
}

// TestTryFindsWhatIsLeft: a trial that fails asks the cloud what is left, and asks again where that fails.
func TestTryFindsWhatIsLeft(t *testing.T) {
	t.Parallel()
	long(t)
	e, c := emulated(t)
	c.Add("/v4/lke/clusters", map[string]any{"label": "mara-another"})
	c.Set(t, cloudtest.Fault{Path: "/v4/lke/clusters", Status: 503, Body: "<html>hello", Times: 1})
	r := e.run("try", "linode", "--yes")
	report, err := os.ReadFile(filepath.Join(e.root, "mara-try-linode", "report.md"))
	if err != nil {
		t.Fatalf("exit code %d: %v\n%s%s", r.code, err, lastLines(r.stdout), r.stderr)
	}
	if r.code != 1 || !strings.Contains(r.stdout, "Linode failed: Service Unavailable (503); checking again") ||
		!strings.Contains(string(report), "The cloud was checked: nothing is left.") {
		t.Errorf("exit code %d\n%s%s\n%s", r.code, lastLines(r.stdout), r.stderr, report)
	}
}
