package updateplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIsHarmless(t *testing.T) {
	t.Parallel()
	more := []string{"mine:", "shop:index:Banner"}
	for token, want := range map[string]bool{
		"aws:ecs/taskDefinition:TaskDefinition":               true,
		"kubernetes:core/v1:ConfigMap":                        true,
		"kubernetes:core/v1:ConfigMapPatch":                   false,
		"kubernetes:core/v1:PodTemplate":                      false,
		"kubernetes:helm.sh/v3:Release":                       false,
		"kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": true,
		"mongodbatlas:index/cluster:Cluster":                  false,
		"azure-native:storage/v20230101:StorageAccount":       false,
		"mine:index:Anything":                                 true,
		"mines:index:Anything":                                false,
		"shop:index:Banner":                                   true,
		"shop:index:BannerAd":                                 false,
		"aws:rds/instance:Instance":                           false,
		"random:index/randomPassword:RandomPassword":          false,
	} {
		if got := IsHarmless(token, more); got != want {
			t.Errorf("%s: %t", token, got)
		}
	}
	for _, token := range stateful {
		if IsHarmless(token, nil) {
			t.Errorf("%s holds data and is harmless", token)
		}
	}
}

// TestLostClusters: which steps lose a cluster, and which lose nodes of one that stays.
func TestLostClusters(t *testing.T) {
	t.Parallel()
	pools := func(types ...string) map[string]any {
		var list []any
		for _, kind := range types {
			list = append(list, map[string]any{"type": kind, "count": 3.0})
		}
		return map[string]any{"pools": list}
	}
	const lke = "linode:index/lkeCluster:LkeCluster"
	for name, test := range map[string]struct {
		step    Step
		cluster bool
		nodes   []string
	}{
		"replaced":     {Step{Op: "replace", Type: "kind:index:Cluster"}, true, nil},
		"deleted":      {Step{Op: "delete", Type: "aws:eks/cluster:Cluster"}, true, nil},
		"created":      {Step{Op: "create", Type: "kind:index:Cluster"}, false, nil},
		"another type": {Step{Op: "replace", Type: "aws:eks/nodeGroup:NodeGroup"}, false, nil},
		"larger nodes": {Step{Op: "update", Type: lke, Old: pools("a", "b"), Inputs: pools("a", "c")}, false, []string{"pools[1]: b -> c"}},
		"another pool": {Step{Op: "update", Type: lke, Old: pools("a"), Inputs: pools("a", "b")}, false, nil},
		"new":          {Step{Op: "create", Type: lke, Inputs: pools("a")}, false, nil},
	} {
		if got := test.step.LosesCluster(); got != test.cluster {
			t.Errorf("%s: loses the cluster: %t", name, got)
		}
		if diff := cmp.Diff(test.nodes, test.step.LosesNodes()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
