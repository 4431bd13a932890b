package providers

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
			{Name: "kind-runtime", Needed: everyOperation()}, // the cluster itself runs in it
			{Name: "kind-resources", Needed: []string{"up"}, Useful: []string{"preview"}},
			{Name: "kind-limits", Useful: []string{"up", "preview"}},
			{Name: "kind-ports", Projects: []string{"kind-cluster", "kind-registry"}, Needed: []string{"up"}, Useful: []string{"preview"}, Answers: true},
		},
		first: []node{
			{name: "kind-cluster"},
			{name: "kind-registry", reads: []string{"kind-cluster"}},
		},
	}
}
