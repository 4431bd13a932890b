package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
)

// TestPreviewOfTheWholeEnvironment previews before anything exists, when
// nothing changes, and when something does.
func TestPreviewOfTheWholeEnvironment(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, embedded)
	first := finished(e.simulate(5, "preview", "-p", "kind", "--exit-code"))
	if unknown := first["kind-cluster"].Unknown; len(unknown) > 0 {
		t.Errorf("the cluster, which reads nothing, is partial: %v", unknown)
	}
	// The address of the ingress controller is known before there is one.
	if diff := cmp.Diff([]string{"kubeconfig", "secrets"}, first["bank-of-anthos"].Unknown); diff != "" {
		t.Error(diff)
	}
	r := e.run("preview", "--simulate", "-p", "kind", "--only", "+kubeconfig")
	for _, want := range []string{"CREATE  OUTPUTS  PREVIEW", "complete", "partial: kind-cluster"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the table does not say %q:\n%s", want, r.stdout)
		}
	}

	e.simulate(0, "up", "-p", "kind")
	for name, step := range finished(e.simulate(0, "preview", "--exit-code")) {
		if len(step.Unknown) > 0 || step.Changes.Any() {
			t.Errorf("%s after up: %s, unknown %v", name, step.Changes, step.Unknown)
		}
	}

	// Another chart changes one project and the outputs of none; more nodes
	// make a new cluster, whose outputs are unknown.
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  certmgr:chart_version: v1.20.0\n")
	events := e.simulate(5, "preview", "--exit-code")
	if got := changed(events); !slices.Equal(got, []string{"certmgr"}) {
		t.Errorf("another chart changes %v", got)
	}
	for name, step := range finished(events) {
		if len(step.Unknown) > 0 {
			t.Errorf("another chart: %s is partial: %v", name, step.Unknown)
		}
	}

	// Another image goes through the registry to the release of the controller, and an
	// up does what the plan says of it.
	image := []string{"--config", "kic:image_name=nginx/nginx-ingress:5.5.3"}
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	events = e.simulate(5, "preview", append(image, "--exit-code", "--save-plan", "plan.json")...)
	images := slices.Sorted(slices.Values(changed(events)))
	if !slices.Equal(images, []string{"ingress-controller", "kic-image-build", "kic-image-push"}) {
		t.Errorf("another image changes %v", images)
	}
	if diff := cmp.Diff([]string{"kic-image-push"}, finished(events)["ingress-controller"].Unknown); diff != "" {
		t.Error(diff)
	}
	planned := e.simulate(0, "up", append(image, "--plan", "plan.json")...)
	for _, name := range images {
		if before, after := finished(events)[name].Changes.String(), finished(planned)[name].Changes.String(); before != after {
			t.Errorf("%s: the plan says %s, and it was %s", name, before, after)
		}
	}
	e.simulate(0, "up")
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  certmgr:chart_version: v1.20.0\n")
	r = e.run("preview", "--simulate", "--only", "certmgr", "--diff")
	if want := "~ kubernetes:helm.sh/v3:Release cert-manager\n        version: \""; !strings.Contains(r.stdout, want) {
		t.Errorf("--diff does not tell %q:\n%s", want, r.stdout)
	}
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kind:workers: 3\n")
	renamed := finished(e.simulate(5, "preview", "--exit-code"))
	if c := renamed["kind-cluster"].Changes; c.Replace == 0 {
		t.Errorf("more nodes: %s", c)
	}
	if unknown := renamed["kubeconfig"].Unknown; !slices.Contains(unknown, "kind-cluster") {
		t.Errorf("more nodes: the kubeconfig does not know %v", unknown)
	}
	if r := e.run("preview", "--simulate"); !strings.Contains(r.stdout, "! resources would be replaced or deleted") {
		t.Errorf("what would go is not marked:\n%s", lastLines(r.stdout))
	}
}

// TestApprovalByRule lets up decide by its preview whether to go on.
func TestApprovalByRule(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	up := []string{"up", "--simulate", "--simulate-speed", "100000", "-p", "kind", "--only", "+kind-registry", "--auto-approve-if", "no-deletes"}
	r := e.run(up...)
	if r.code != 0 || !strings.Contains(r.stdout, "preview succeeded") || !strings.Contains(r.stdout, "up succeeded") {
		t.Fatalf("creating only: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kind:registry_port: 5002\n")
	before := e.stateResources()
	r = e.run(up...)
	if r.code != 1 || !strings.Contains(r.stderr, "not approved by --auto-approve-if no-deletes, because of kind-registry") {
		t.Errorf("replacing the registry: exit code %d, %s", r.code, r.stderr)
	}
	if diff := cmp.Diff(before, e.stateResources()); diff != "" {
		t.Errorf("what was not approved was done:\n%s", diff)
	}
	if r := e.run("up", "--simulate", "--auto-approve-if", "always"); r.code != 2 {
		t.Errorf("an unknown rule: exit code %d, want 2", r.code)
	}
	runs := e.run(append(up, "-o", "json", "--yes")...)
	if got := results(decode(t, runs.stdout)); got != (event.Results{Succeeded: 2}) {
		t.Errorf("--yes: %+v", got)
	}
}
