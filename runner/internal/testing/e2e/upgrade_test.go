package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpgrade upgrades a cluster by two minor versions and then a chart. A probe whose answers fail stops it after the
// first step; the next run continues from what runs.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, embedded)
	const stackFile = "config/pulumi/Pulumi.dev.yaml"
	e.write(stackFile, "config:\n  kubernetes:infra_type: linode\n  lke:k8s_version: \"1.34\" # ours\n  certmgr:chart_version: v1.20.0\n")
	ran := func(want int, args ...string) result {
		t.Helper()
		r := e.run(append(args, "-s", "dev", "--simulate")...)
		if r.code != want {
			t.Fatalf("%q: exit code %d, want %d\n%s\n%s", args, r.code, want, r.stdout, r.stderr)
		}
		return r
	}
	ran(0, "up", "--yes", "--only", "+certmgr")

	var plan struct {
		To    string
		Parts []struct {
			Key     string
			Running []string
		}
		Steps []struct{ Title, Project string }
	}
	look := func() {
		t.Helper()
		plan.Steps, plan.Parts = nil, nil
		if err := json.Unmarshal([]byte(ran(0, "upgrade", "plan", "-o", "json").stdout), &plan); err != nil {
			t.Fatal(err)
		}
	}
	look()
	var titles []string
	for _, step := range plan.Steps {
		titles = append(titles, step.Project+": "+step.Title)
	}
	want := "linode-lke: control plane and nodes 1.34 → 1.35, certmgr: chart cert-manager v1.20.0 → v1.21.1, linode-lke: control plane and nodes 1.35 → 1.36"
	if got := strings.Join(titles, ", "); got != want {
		t.Errorf("the steps are %s", got)
	}
	if out := ran(2, "upgrade", "plan", "--kubernetes", "1.33").stderr; !strings.Contains(out, "cannot go down to 1.33") {
		t.Error(out)
	}

	var isDown atomic.Bool
	isDown.Store(true)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if isDown.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer shop.Close()
	out := ran(1, "upgrade", "--yes", "--probe", shop.URL).stderr
	for _, text := range []string{"Step 1 of 3", "step 1 of 3 is done, but " + shop.URL + " was asked", "503 Service Unavailable"} {
		if !strings.Contains(out, text) {
			t.Errorf("it does not say %q:\n%s", text, out)
		}
	}
	content, err := os.ReadFile(filepath.Join(e.root, stackFile))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(content); !strings.Contains(text, `lke:k8s_version: "1.35" # ours`) || !strings.Contains(text, "v1.20.0") {
		t.Errorf("after one step:\n%s", text)
	}

	isDown.Store(false)
	out = ran(0, "upgrade", "--yes", "--probe", shop.URL).stderr
	for _, text := range []string{"Step 1 of 2: chart cert-manager", "Step 2 of 2: control plane and nodes 1.35 → 1.36", "; 0 answers failed"} {
		if !strings.Contains(out, text) {
			t.Errorf("it does not say %q:\n%s", text, out)
		}
	}
	look()
	for _, part := range plan.Parts {
		if version := strings.Join(part.Running, " "); part.Key == "lke:k8s_version" && version != "1.36" || part.Key == "certmgr:chart_version" && version != "v1.21.1" {
			t.Errorf("%s runs %s", part.Key, version)
		}
		if part.Key == "prometheus:chart_version" && len(part.Running) > 0 {
			t.Error("the upgrade has deployed a project that was not there")
		}
	}
	if len(plan.Steps) != 0 {
		t.Errorf("steps are left: %v", plan.Steps)
	}
}

// TestFleetUpgrade upgrades two environments in waves: production begins when all steps of the test have succeeded. An
// upgrade of production alone is refused until the test is up to date.
func TestFleetUpgrade(t *testing.T) {
	t.Parallel()
	long(t)
	e := emptyEnvironment(t)
	for _, name := range []string{"test", "prod"} {
		e.write("config/environments/"+name+".yaml", "values:\n  runner:\n    provider: linode\n    labels: {stage: "+name+"}\n"+
			"  pulumiConfig:\n    lke:k8s_version: \"1.35\"\n    certmgr:chart_version: v1.20.0\n")
	}
	e.write("config/rollout.yaml", "waves:\n  - {name: test, match: {stage: test}}\n  - {name: prod, match: {stage: prod}}\n")
	e.fleet(0, "up", "--all", "--only", "+certmgr")

	events := e.fleet(0, "upgrade", "--all")
	if got := order(events); !slices.Equal(got, []string{"test succeeded", "wave:test skipped", "prod succeeded"}) {
		t.Errorf("order %q", got)
	}
	var steps []string
	for _, event := range events {
		if strings.HasPrefix(event.Message, "step ") {
			steps = append(steps, event.Project+" "+event.Message)
		}
	}
	want := []string{
		"test step 1 of 2: chart cert-manager v1.20.0 → v1.21.1", "test step 2 of 2: control plane and nodes 1.35 → 1.36",
		"prod step 1 of 2: chart cert-manager v1.20.0 → v1.21.1", "prod step 2 of 2: control plane and nodes 1.35 → 1.36",
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("the steps differ (-want +got):\n%s", diff)
	}
	for _, name := range []string{"test", "prod"} {
		r := e.run("config", "get", "lke:k8s_version", "-s", name)
		if r.code != 0 || strings.TrimSpace(r.stdout) != "1.36" {
			t.Errorf("%s is configured to have %q: %s", name, r.stdout, r.stderr)
		}
	}
	again := e.run("fleet", "upgrade", "--all", "--simulate", "--yes")
	if again.code != 0 || strings.Count(again.stderr, "nothing of what is deployed is older than the catalogue") != 2 {
		t.Errorf("again: %d\n%s%s", again.code, again.stdout, again.stderr)
	}
}
