package cli_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/livetest"
	"mara/runner/internal/wire"
)

// TestStatusLive asks the cluster about an object of a state, and about the objects of a Helm release.
func TestStatusLive(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	config := livetest.Serve(t, livetest.Resource{GroupVersion: "apps/v1", Name: "deployments", Kind: "Deployment", Objects: []string{
		`{"metadata":{"name":"cert-manager","namespace":"cert-manager","generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"readyReplicas":1,"availableReplicas":1}}`,
	}}, livetest.Resource{GroupVersion: "v1", Name: "namespaces", Kind: "Namespace", Objects: []string{`{"metadata":{"name":"cert-manager"}}`}})
	state := layout.Of(root, false).State()
	cmdtest.WriteFile(t, state.Stack("aws-eks", "dev"), `{"checkpoint":{"latest":{"resources":[{"urn":"a::b","type":"aws:eks/cluster:Cluster"}]}}}`)
	cmdtest.WriteFile(t, state.Stack("certmgr", "dev"), `{"checkpoint":{"latest":{"resources":[
		{"urn":"a::namespace","type":"kubernetes:core/v1:Namespace","outputs":{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"cert-manager"}}},
		{"urn":"a::release","type":"kubernetes:helm.sh/v3:Release","outputs":{"resourceNames":{
			"Deployment.apps/apps/v1":["cert-manager/cert-manager"],"ClusterRole.rbac.authorization.k8s.io/rbac.authorization.k8s.io/v1":["controller"]}}}]}}}`)
	i := newInstalled(t)
	i.stacks(map[string]int{"aws-eks": 3, "certmgr": 2})
	run := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		d, out, errs := installedDeps(t, root, i)
		if code := wire.Run(context.Background(), d, append([]string{"status", "-s", "dev"}, args...)); code != want {
			t.Fatalf("%v: exit code %d, want %d: %s%s", args, code, want, out, errs)
		}
		return out.String(), errs.String()
	}
	stdout, stderr := run(cmd.ExitConfig, "--live")
	if !strings.Contains(stdout, "2 of ") || !strings.Contains(stderr, "the environment has no cluster: aws-eks is not deployed") {
		t.Errorf("without a cluster: %s%s", stdout, stderr)
	}
	outputs, err := json.Marshal(map[string]string{"kubeconfig": config})
	if err != nil {
		t.Fatal(err)
	}
	i.write("shown-aws-eks.json", string(outputs))
	stdout, _ = run(cmd.ExitDone, "--live")
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"1 of 3 objects ready", "ClusterRole controller is gone", "not ready: Available: 1/2"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	stdout, _ = run(cmd.ExitDone, "--live", "-o", "json")
	var status struct {
		Projects []struct {
			Project string
			Live    *struct {
				Ready    int
				Problems []struct{ Object, State string }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &status); err != nil {
		t.Fatal(err)
	}
	for _, p := range status.Projects {
		if asked := p.Live != nil; asked != (p.Project == "certmgr") || asked && (p.Live.Ready != 1 || len(p.Live.Problems) != 2) {
			t.Errorf("%s: %+v", p.Project, p.Live)
		}
	}
	if _, stderr := run(cmd.ExitUsage, "--live", "--watch"); !strings.Contains(stderr, "choose one") {
		t.Error(stderr)
	}
	if _, stderr := run(cmd.ExitUsage, "--live", "--simulate"); !strings.Contains(stderr, "remove --live") {
		t.Error(stderr)
	}
}
