package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/machine/preflight"
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
				if account.Status != test.status || len(account.Findings) != 1 || !strings.HasPrefix(account.Findings[0].Text, test.text) ||
					!strings.HasPrefix(account.Findings[0].Remedy, test.remedy) {
					t.Errorf("%+v: %+v", test.fault, account)
				}
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
		typed("Type of the nodes", "g6-standard-4"), typed("Number of nodes", "5"), chosen("Several control-plane", "\r"), chosen("Type of the registry", "\r"),
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
