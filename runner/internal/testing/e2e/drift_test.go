package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

// lose deletes something from the simulated clouds behind the runner's back.
func (e *environment) lose(name string) {
	e.t.Helper()
	for _, file := range e.cloudRecords() {
		if strings.HasSuffix(file, name) {
			if err := os.Remove(file); err != nil {
				e.t.Fatal(err)
			}
			return
		}
	}
	e.t.Fatalf("the simulated clouds have no %s", name)
}

// TestDriftOfWhatIsOnlyRead: a refresh changes how the load balancer's Service
// is remembered, which the ingress controller's program reads and a chart made.
func TestDriftOfWhatIsOnlyRead(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.simulate(0, "up", "-p", "aws", "--only", "+ingress-controller")
	e.simulate(0, "drift", "--exit-code")
}

func TestDrift(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.simulate(0, "up", "-p", "kind", "--only", "+logstore")
	if got := results(e.simulate(0, "drift", "--exit-code")); got != (event.Results{Succeeded: 3, Skipped: 11}) {
		t.Errorf("drift of an untouched project: %+v", got)
	}
	e.lose("core.v1.Secret/logstore%2Flogstore-credentials.json")
	before := e.stateResources()
	for _, args := range [][]string{{"drift"}, {"refresh", "--preview-only"}} {
		step := finished(e.simulate(5, args[0], append(args[1:], "--exit-code")...))["logstore"]
		if step.Changes == nil || step.Changes.Delete != 1 {
			t.Errorf("%s: %+v, want one that is gone", args, step.Changes)
		}
	}
	r := e.run("drift", "--simulate", "--only", "logstore")
	if r.code != 0 || !strings.Contains(r.stdout, "gone: kubernetes:core/v1:Secret logstore-credentials") || !strings.Contains(r.stdout, "runner refresh -s dev --simulate") {
		t.Errorf("drift does not tell what is gone: exit code %d\n%s", r.code, r.stdout)
	}
	if len(e.stateResources()["logstore"]) != len(before["logstore"]) {
		t.Error("looking for drift has changed the state")
	}
	expectRun(t, "up after a drift", e.simulate(0, "up", "--only", "+logstore"), "logstore")
	if step := finished(e.simulate(5, "refresh", "--exit-code"))["logstore"]; step.Changes.Delete != 1 {
		t.Errorf("refresh: %s", step.Changes)
	}
	e.simulate(0, "drift", "--exit-code")
}

func TestProtection(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: kind\n  runner:protect: true\n")
	e.simulate(0, "up", "--only", "+kubeconfig")
	r := e.run("destroy", "--simulate", "--yes")
	if r.code != 3 || !strings.Contains(r.stderr, "Pulumi.dev.yaml:3") || !strings.Contains(r.stderr, "protects this environment") {
		t.Errorf("destroying what is protected: exit code %d, %s", r.code, r.stderr)
	}
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  runner:protect: perhaps\n")
	if r := e.run("destroy", "--simulate", "--yes"); r.code != 3 || !strings.Contains(r.stderr, "runner:protect") {
		t.Errorf("a protection that is neither true nor false: exit code %d, %s", r.code, r.stderr)
	}
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  runner:protect: false\n")
	e.simulate(0, "destroy")
}

// TestProtectedData: an up replaces resources of a protected environment only where
// --allow names them, or mara.yaml calls them harmless.
func TestProtectedData(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: aws\n  runner:protect: true\n")
	e.simulate(0, "up", "--only", "aws-ecr")
	replace := []string{"--only", "aws-ecr", "--config", "ecr:kms_key_arn=arn:aws:kms:us-east-1:000000000000:key/1"}
	r := e.run(append([]string{"up", "--simulate", "--yes"}, replace...)...)
	if r.code != 1 || !strings.Contains(r.stderr, "the protection of the environment (runner:protect in config/pulumi/Pulumi.dev.yaml:3): aws:ecr/repository:Repository") ||
		!strings.Contains(r.stderr, "--allow NAME") {
		t.Errorf("a replacement in a protected environment: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if text := strings.Join(warnings(e.simulate(0, "preview", replace...)), "\n"); !strings.Contains(text, "holds data that a replace loses") {
		t.Errorf("a preview warns of %q", text)
	}
	r = e.run(append([]string{"up", "--simulate", "--yes", "--allow", "aws:ecr/repository:Repository"}, replace...)...)
	if r.code != 1 || !strings.Contains(r.stderr, "aws:ecr/lifecyclePolicy:LifecyclePolicy lifecycle would be replaced or deleted") {
		t.Errorf("a type that no list knows: exit code %d\n%s", r.code, r.stderr)
	}
	e.write("mara.yaml", "providers: {aws: }\nharmless: aws:ecr/lifecyclePolicy:LifecyclePolicy\n")
	if names := changed(e.simulate(0, "up", append(replace, "--allow", "aws:ecr/repository:Repository")...)); len(names) != 1 {
		t.Errorf("with --allow it changed %v", names)
	}
	if r := e.run("destroy", "--simulate", "--yes", "--allow", "prod"); r.code != 3 || !strings.Contains(r.stderr, "--allow dev") {
		t.Errorf("--allow with another name: exit code %d, %s", r.code, r.stderr)
	}
	e.simulate(0, "destroy", "--allow", "dev")
}

// TestReap: environments that are past their time are destroyed, and no others.
func TestReap(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/environment", "")
	for name, more := range map[string]string{"old": "runner:ttl: 1ms", "young": "runner:ttl: 8h", "kept": "runner:ttl: 1ms\n  runner:protect: true", "forever": "kind:workers: 1"} {
		e.write("config/pulumi/Pulumi."+name+".yaml", "config:\n  kubernetes:infra_type: kind\n  "+more+"\n")
		if name == "forever" {
			continue // and never deployed
		}
		e.simulate(0, "up", "-s", name, "--only", "kind-cluster")
	}
	// A stack of the same name that belongs to another repository says nothing about the age of this one.
	e.write(".runner/simulated/state/.pulumi/stacks/stranger/young.json",
		`{"version":3,"checkpoint":{"stack":"organization/stranger/young","latest":{"resources":[{"urn":"urn:pulumi:young::stranger::a:b:C::c","type":"a:b:C","created":"2001-01-01T00:00:00Z"}]}}}`)
	r := e.run("fleet", "reap", "--simulate")
	if r.code != 2 || !strings.Contains(r.stderr, "old: ") || !strings.Contains(r.stderr, "runner:ttl in config/pulumi/Pulumi.old.yaml:3 is 0.0s") || !strings.Contains(r.stderr, "fleet reap needs confirmation") || !strings.Contains(r.stderr, "--yes") {
		t.Errorf("without --yes: exit code %d\n%s", r.code, r.stderr)
	}
	events := e.simulate(0, "fleet", "reap")
	if names := ran(events); len(names) != 1 || names[0] != "old" {
		t.Errorf("destroyed %v", names)
	}
	r = e.run("fleet", "reap", "--simulate", "--yes")
	if r.code != 0 || !strings.Contains(r.stderr, "no environment is past its time") || !strings.Contains(r.stderr, "kept: ") || !strings.Contains(r.stderr, "is protected, and stays") {
		t.Errorf("again: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("stacks", "--simulate", "-o", "json"); !strings.Contains(r.stdout, `"kept"`) || !strings.Contains(r.stdout, `"young"`) {
		t.Errorf("left: %s", r.stdout)
	}
}

func TestRemoveStacks(t *testing.T) {
	t.Parallel()
	eachEngine(t, []string{embedded}, func(t *testing.T, e *environment) {
		e.simulate(0, "preview", "-p", "kind", "--only", "+certmgr") // leaves empty stacks
		e.simulate(0, "up", "-p", "kind", "--only", "+kubeconfig")
		e.simulate(0, "destroy", "--remove-stacks")
		if left, _ := filepath.Glob(filepath.Join(e.root, ".runner/simulated/state/.pulumi/stacks/*/dev.json")); len(left) > 0 {
			t.Errorf("stacks are left: %v", left)
		}
		e.simulate(0, "up", "-p", "kind", "--only", "+kubeconfig")
	})
}

// TestGoneCluster destroys an environment whose cluster was deleted by hand.
func TestGoneCluster(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.simulate(0, "up", "-p", "kind", "--only", "+certmgr")
	e.lose("index.Cluster/mara-dev.json")
	step := finished(e.simulate(1, "destroy"))["certmgr"]
	if !strings.Contains(step.Error, "unreachable") || !strings.Contains(step.Hint, "--force-forget") {
		t.Errorf("the error does not explain itself: %s; %s", step.Error, step.Hint)
	}
	events := e.simulate(0, "destroy", "--force-forget")
	if text := strings.Join(warnings(events), "\n"); !strings.Contains(text, "dropped from the state") {
		t.Errorf("removed resources are not reported: %s", text)
	}
	for project, left := range e.stateResources() {
		if len(left) > 0 {
			t.Errorf("%s still has %v", project, left)
		}
	}
}

// TestForgettingHelmReleases destroys an environment whose cluster does not
// answer: Helm says so in its own words.
func TestForgettingHelmReleases(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.simulate(0, "up", "-p", "kind", "--only", "+certmgr")
	const fault = `*:Release=delete:can't delete Helm Release with unreachable cluster. Reason: "no such host"`
	step := finished(e.simulate(1, "destroy", "--simulate-fail", fault))["certmgr"]
	if step.Error != "the Kubernetes cluster is unreachable: no such host" || !strings.Contains(step.Hint, "--force-forget") {
		t.Errorf("the error does not explain itself: %s; %s", step.Error, step.Hint)
	}
	events := e.simulate(0, "destroy", "--force-forget", "--simulate-fail", fault)
	if text := strings.Join(warnings(events), "\n"); !strings.Contains(text, "dropped from the state, not destroyed") {
		t.Errorf("removed resources are not reported: %s", text)
	}
	for project, left := range e.stateResources() {
		if len(left) > 0 {
			t.Errorf("%s still has %v", project, left)
		}
	}
}
