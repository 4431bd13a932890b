package providers

// kind hosts the cluster and the registry in containers on this machine.
func kind() layout {
	return layout{
		name:     "kind",
		title:    "Kubernetes in Docker",
		cluster:  "kind-cluster",
		registry: "kind-registry",
		shipped:  []string{"kind"},
		plugins:  []string{"kind"},
		checks:   []Check{{Name: "docker", Needed: everyOperation()}}, // the cluster itself runs in it
		first: []node{
			{name: "kind-cluster"},
			{name: "kind-registry", reads: []string{"kind-cluster"}},
		},
	}
}
