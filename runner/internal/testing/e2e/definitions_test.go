package e2e

import (
	"path/filepath"
	"testing"
)

// TestDefinitionsGoWhenTheyAreNotToBeKept destroys the ingress controller with
// its custom kinds, and looks whether their definitions are still in the cluster.
func TestDefinitionsGoWhenTheyAreNotToBeKept(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	count := func(when string, want int) {
		t.Helper()
		records, err := filepath.Glob(filepath.Join(e.root, ".runner/simulated/clouds/*/kubernetes/*/apiextensions.k8s.io.v1.CustomResourceDefinition/*.json"))
		if err != nil || len(records) != want {
			t.Errorf("%s: %d definitions are in the cluster, want %d (%v)", when, len(records), want, err)
		}
	}
	const stack = "config:\n  kubernetes:infra_type: kind\n  nginx:custom_resources: true\n"
	e.write("config/pulumi/Pulumi.dev.yaml", stack)
	e.simulate(0, "up", "--only", "+ingress-controller")
	count("up", 13)
	checkChanged(t, "up of nothing", nil, e.simulate(0, "up", "--only", "ingress-controller"))

	e.write("config/pulumi/Pulumi.dev.yaml", stack+"  nginx:keep_crds: true\n")
	e.simulate(0, "up", "--only", "ingress-controller")
	e.simulate(0, "destroy", "--only", "ingress-controller")
	count("destroy that keeps them", 13)

	e.write("config/pulumi/Pulumi.dev.yaml", stack)
	e.simulate(0, "up", "--only", "ingress-controller")
	e.simulate(0, "destroy", "--only", "ingress-controller")
	count("destroy", 0)
}
