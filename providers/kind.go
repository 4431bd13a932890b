package providers

import "mara/operation"

// kind hosts the cluster and the registry in containers on this machine.
func kind() layout {
	return layout{
		name:      "kind",
		title:     "Kubernetes in Docker",
		local:     true,
		cluster:   "kind-cluster",
		registry:  "kind-registry",
		questions: kindQuestions(),
		shipped:   []string{"kind"},
		plugins:   []Plugin{{Name: "kind", Projects: []string{"kind-cluster", "kind-registry"}}},
		checks: []Check{
			{Name: "kind-runtime", Needed: operation.All()}, // the cluster itself runs in it
			{Name: "kind-resources", Needed: []operation.Operation{operation.Up}, Useful: []operation.Operation{operation.Preview}},
			{Name: "kind-limits", Useful: []operation.Operation{operation.Up, operation.Preview}},
			{Name: "kind-ports", Projects: []string{"kind-cluster", "kind-registry"}, Needed: []operation.Operation{operation.Up}, Useful: []operation.Operation{operation.Preview}, Answers: true},
		},
		first: []node{
			{name: "kind-cluster"},
			{name: "kind-registry", reads: []string{"kind-cluster"}},
		},
	}
}
