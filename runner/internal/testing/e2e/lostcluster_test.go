package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
)

// clusterFindings returns the messages of the findings about a cluster that goes.
func clusterFindings(events []event.Event) string {
	var texts []string
	for _, e := range events {
		if e.Finding != nil && e.Finding.Rule == string(refusal.Cluster) {
			texts = append(texts, e.Finding.Message)
		}
	}
	return strings.Join(texts, "\n")
}

// TestReplacedCluster: a preview says what goes with a cluster that is replaced, an up refuses to lose it unseen, and with
// --allow empties it first and makes everything anew in the same run.
func TestReplacedCluster(t *testing.T) {
	t.Parallel()
	long(t)
	for _, test := range []struct {
		provider, project, token, before, after, because string
	}{
		{"kind", "kind-cluster", "kind:index:Cluster", "", "kind:http_port: 8090", "httpPort"},
		{
			"digitalocean", "digitalocean-doks", "digitalocean:index/kubernetesCluster:KubernetesCluster",
			"docr:registry: example\n  doks:node_size: s-4vcpu-8gb", "docr:registry: example\n  doks:node_size: c-4", "nodePool",
		},
		{"linode", "linode-lke", "linode:index/lkeCluster:LkeCluster", "lke:region: us-ord", "lke:region: eu-central", "region"},
	} {
		t.Run(test.provider, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			configure := func(more string) {
				e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: "+test.provider+"\n  "+more+"\n")
			}
			configure(test.before)
			e.simulate(0, "up")
			configure(test.after)
			found := clusterFindings(e.simulate(0, "preview"))
			for _, want := range []string{
				"the cluster " + test.token, "because " + test.because, "secrets (", "with 1 Helm release", "of them with data",
			} {
				if !strings.Contains(found, want) {
					t.Errorf("the preview does not say %q: %s", want, found)
				}
			}
			r := e.run("up", "--simulate", "--yes", "--simulate-speed", "100000")
			if r.code != 1 || !strings.Contains(r.stdout+r.stderr, "the loss of a cluster: "+test.token) || !strings.Contains(r.stdout+r.stderr, "--allow NAME") {
				t.Fatalf("an up that replaces the cluster: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
			}
			events := e.simulate(0, "up", "--allow", test.token)
			if names := changed(events); !slices.Contains(names, test.project) || !slices.Contains(names, "secrets") {
				t.Errorf("with --allow it changed %v", names)
			}
			for _, operation := range []string{"up", "refresh", "drift"} {
				if names := changed(e.simulate(0, operation)); len(names) > 0 {
					t.Errorf("%s afterwards changes %v", operation, names)
				}
			}
			e.simulate(0, "destroy")
		})
	}
}

// TestReplacedClusterAsks: on a terminal, the stack's name is the consent; another answer changes nothing.
func TestReplacedClusterAsks(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: kind\n")
	e.simulate(0, "up", "--only", "+secrets")
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: kind\n  kind:http_port: 8090\n")
	before := e.stateFiles()
	const question = "This deletes or replaces the cluster kind:index:Cluster cluster with everything in it: secrets (4 objects). Type"
	for _, test := range []struct {
		answer string
		code   int
	}{{"prod", 1}, {"dev", 0}} {
		sitting := e.sit("up", "--simulate", "--simulate-speed", "100000", "--only", "+secrets")
		sitting.answer(typed("Type the stack's name to continue", test.answer))
		screen := strings.Join(strings.Fields(sitting.end(test.code)), " ")
		if !strings.Contains(screen, question) {
			t.Errorf("the question is missing:\n%s", screen)
		}
		if same := maps.Equal(before, e.stateFiles()); same != (test.code != 0) {
			t.Errorf("after the answer %q the states are the same: %t", test.answer, same)
		}
	}
}

// TestLostNodes: a change that deletes running nodes before new ones are ready needs consent.
func TestLostNodes(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: linode\n  lke:node_type: g6-standard-2\n")
	e.simulate(0, "up", "--only", "linode-lke")
	change := []string{"--only", "linode-lke", "--config", "lke:node_type=g6-standard-4"}
	if found := clusterFindings(e.simulate(0, "preview", change...)); !strings.Contains(found, "pools[0]: g6-standard-2 -> g6-standard-4") {
		t.Errorf("the preview says %q", found)
	}
	r := e.run(append([]string{"up", "--simulate", "--yes"}, change...)...)
	if r.code != 1 || !strings.Contains(r.stdout+r.stderr, "the loss of running nodes") {
		t.Errorf("exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	e.simulate(0, "up", append(change, "--allow", "linode:index/lkeCluster:LkeCluster")...)
}

// TestLostCluster: an up whose cluster was deleted by hand says so, and makes the cluster and everything in it anew,
// before and after a refresh has found it out. A preview changes nothing.
func TestLostCluster(t *testing.T) {
	t.Parallel()
	long(t)
	for _, provider := range []string{"kind", "linode"} {
		for _, refreshed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, refreshed %t", provider, refreshed), func(t *testing.T) {
				t.Parallel()
				e := newEnvironment(t, embedded)
				e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: "+provider+"\n")
				e.simulate(0, "up")
				e.loseCluster()
				if refreshed {
					e.simulate(1, "refresh") // what is in the cluster cannot be read
				}
				for range 2 {
					found := clusterFindings(e.simulate(0, "preview"))
					if !strings.Contains(found, "the cluster is gone") || !strings.Contains(found, "secrets (") {
						t.Errorf("the preview says %q", found)
					}
				}
				events := e.simulate(0, "up")
				if names := changed(events); !slices.Contains(names, "secrets") || !slices.Contains(names, "bank-of-anthos") {
					t.Errorf("up changes %v", names)
				}
				if text := strings.Join(warnings(events), "\n"); !strings.Contains(text, "the cluster is gone") {
					t.Errorf("up warns of %q", text)
				}
				for _, operation := range []string{"up", "refresh", "drift"} {
					if names := changed(e.simulate(0, operation)); len(names) > 0 {
						t.Errorf("%s afterwards changes %v", operation, names)
					}
				}
			})
		}
	}
}

// loseCluster deletes the simulated cluster, as by hand in the cloud's own console.
func (e *environment) loseCluster() {
	e.t.Helper()
	files, err := filepath.Glob(filepath.Join(e.root, ".runner/simulated/clouds/dev/*/*luster*/*.json"))
	if err != nil || len(files) != 1 {
		e.t.Fatalf("the simulated clouds have the clusters %v (%v)", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		e.t.Fatal(err)
	}
}

// TestForgottenCluster: a cluster that is only missing in the state, and answers, is not made a second time.
func TestForgottenCluster(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: kind\n")
	e.simulate(0, "up", "--only", "+secrets")
	if r := e.run("pulumi", "kind-cluster", "--simulate", "--", "state", "delete", "--all", "--force", "--yes"); r.code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, operation := range []string{"preview", "up"} {
		r := e.run(operation, "--simulate", "--yes", "--only", "+secrets")
		if operation == "preview" {
			r = e.run(operation, "--simulate", "--only", "+secrets")
		}
		if r.code != 3 || !strings.Contains(r.stderr, "the state of kind-cluster has no cluster, but the cluster that secrets (4 objects) is in still answers") {
			t.Errorf("%s: exit code %d\n%s%s", operation, r.code, lastLines(r.stdout), r.stderr)
		}
	}
}
