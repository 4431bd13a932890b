package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
)

// edit is a change of the configuration, and the projects that it concerns.
type edit struct {
	config string // a line of the stack file, kept for the edits that follow
	want   []string
}

// TestChanges changes one value after another. Each affects the projects that
// read it, and the readers of an output that follows from it; no others.
// Then it deletes things behind Pulumi's back.
func TestChanges(t *testing.T) {
	t.Parallel()
	long(t)
	for provider, test := range map[string]struct {
		edits []edit
		lost  map[string]string // projects by records of the simulated clouds, below the stack's directory; * stands for anything
	}{
		"aws": {
			[]edit{
				{`vpc:nat: per-az`, []string{"aws-vpc"}},
				{`eks:max_size: 9`, []string{"aws-eks"}},
				{`certmgr:values: {podLabels: {team: a}}`, []string{"certmgr"}},
				{`logstore:heap: 2g`, []string{"logstore"}},
			},
			map[string]string{"aws/ecr.lifecyclePolicy.LifecyclePolicy/*": "aws-ecr", "aws/eks.addon.Addon/*coredns*": "aws-eks"},
		},
		"linode": {
			[]edit{
				{`lke:node_count: 5`, []string{"linode-lke"}},
				// Of the configuration only an output changes.
				{`harbor:project: platform`, []string{"kic-image-push", "ingress-controller", "linode-harbor-configuration"}},
				{`harbor:ready_timeout: 60`, nil},
			},
			map[string]string{"kubernetes/*/core.v1.Secret/nginx-ingress*registry*": "linode-registry-credentials"},
		},
		"kind": {
			[]edit{
				{`certmgr:replicas: 3`, []string{"certmgr"}},
				{`bank-of-anthos:load_users: 7`, []string{"bank-of-anthos"}},
				{`kind:registry_port: 5002`, []string{"kind-registry", "kic-image-push", "ingress-controller"}},
			},
			map[string]string{
				"kubernetes/*/helm.sh.v3.Release/cert-manager*":            "certmgr",
				"kubernetes/*/apps.v1.Deployment/bank-of-anthos*frontend*": "bank-of-anthos",
				"docker/index.registryImage.RegistryImage/*":               "kic-image-push",
			},
		},
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			stack := "config:\n  kubernetes:infra_type: " + provider + "\n"
			e.write("config/pulumi/Pulumi.dev.yaml", stack)
			e.simulate(0, "up")
			checkExplicitProviders(t, e)
			for _, edit := range test.edits {
				stack += "  " + edit.config + "\n"
				e.write("config/pulumi/Pulumi.dev.yaml", stack)
				checkChanged(t, "up of "+edit.config, edit.want, e.simulate(0, "up"))
			}
			if provider == "aws" { // the volumes of a StatefulSet keep their class
				e.write("config/pulumi/Pulumi.dev.yaml", stack+"  kubernetes:storage_class: gp2\n")
				step := finished(e.simulate(1, "preview"))["logstore"]
				if !strings.Contains(step.Error, "updates to statefulset spec") {
					t.Errorf("another storage class: %+v", step)
				}
				e.write("config/pulumi/Pulumi.dev.yaml", stack)
			}
			checkChanged(t, "up of nothing", nil, e.simulate(0, "up"))
			e.checkLosses(test.lost)
			e.simulate(0, "destroy")
			checkNothingLeft(t, e)
		})
	}
}

// checkLosses takes single things away. Refresh tells it, up makes them anew and
// nothing else, and then all is well.
func (e *environment) checkLosses(projects map[string]string) {
	e.t.Helper()
	for record := range projects {
		e.removeRecord(record)
	}
	want := slices.Collect(maps.Values(projects))
	refresh, up := e.simulate(0, "refresh"), e.simulate(0, "up")
	checkChanged(e.t, "refresh", want, refresh)
	checkChanged(e.t, "up", want, up)
	for _, project := range want {
		checkCounts(e.t, refresh, project, event.Changes{Delete: 1})
		checkCounts(e.t, up, project, event.Changes{Create: 1})
	}
	checkChanged(e.t, "refresh when all is well", nil, e.simulate(0, "refresh"))
}

// checkExplicitProviders looks into the states themselves: nothing Kubernetes
// was deployed with a provider of Pulumi's own making, which would go to
// whatever cluster the user's kubectl points at.
func checkExplicitProviders(t *testing.T, e *environment) {
	t.Helper()
	found := 0
	for _, resource := range e.state() {
		if !strings.HasPrefix(resource.Type, "kubernetes:") {
			continue
		}
		found++
		if !strings.Contains(resource.Provider, "::pulumi:providers:kubernetes::cluster::") {
			t.Errorf("%s was deployed with the provider %q", resource.URN, resource.Provider)
		}
	}
	if found == 0 {
		t.Error("nothing Kubernetes is in the states")
	}
}

func checkChanged(t *testing.T, what string, want []string, events []event.Event) {
	t.Helper()
	got := changed(events)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), got); diff != "" {
		t.Errorf("%s changed other projects (-want +got):\n%s", what, diff)
	}
}

// checkCounts compares what happened to a project's resources, except the unchanged
// ones.
func checkCounts(t *testing.T, events []event.Event, project string, want event.Changes) {
	t.Helper()
	step := finished(events)[project]
	if step.Changes == nil {
		t.Errorf("%s has no changes", project)
		return
	}
	got := *step.Changes
	got.Same = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes of %s (-want +got):\n%s", project, diff)
	}
}

// removeRecord deletes the one thing of the simulated clouds that a pattern
// means.
func (e *environment) removeRecord(pattern string) {
	e.t.Helper()
	files, err := filepath.Glob(filepath.Join(e.root, ".runner/simulated/clouds/dev", pattern))
	if err != nil || len(files) != 1 {
		e.t.Fatalf("%s means %d records, want one: %v %s", pattern, len(files), err, strings.Join(files, ", "))
	}
	if err := os.Remove(files[0]); err != nil {
		e.t.Fatal(err)
	}
}

// TestHighlights reads the end of a successful up: addresses and names to log
// in with, and nothing secret.
func TestHighlights(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	r := e.run("up", "-p", "kind", "--simulate", "--simulate-speed", "100000", "--yes")
	_, outputs, found := strings.Cut(r.stdout, "\nOutputs:\n")
	if r.code != 0 || !found {
		t.Fatalf("exit code %d, want outputs at the end:\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	for _, want := range []string{"application_url  https://localhost\n", "demo_user        testuser\n", "endpoint         localhost:5001\n", "port-forward"} {
		if !strings.Contains(outputs, want) {
			t.Errorf("the outputs lack %q:\n%s", want, outputs)
		}
	}
	if strings.Contains(outputs, "[secret]") || strings.Contains(outputs, "SIMULATED-0!") {
		t.Errorf("the outputs have secrets:\n%s", outputs)
	}
}
