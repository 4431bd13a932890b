package providers

import (
	"slices"

	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/operation"
)

// kind returns projects.Kind with its plan, checks and questions.
func kind() layout {
	own := []string{"kind-cluster", "kind-registry"}
	up, preview := []operation.Operation{operation.Up}, []operation.Operation{operation.Preview}
	return layout{
		Infrastructure: projects.Kind(),
		questions:      kindQuestions(),
		bundled:        []string{"kind"},
		plugins:        []model.Plugin{{Name: "kind", Projects: own}},
		checks: []model.Check{
			// The cluster runs in it. Only the kubeconfig project does without the cluster.
			{Name: "kind-runtime", Projects: slices.Concat(own, inCluster()), Needed: operation.All()},
			{Name: "kind-nodes", Projects: own[:1], Needed: up, Useful: preview},
			{Name: "kind-resources", Projects: own[:1], Needed: up, Useful: preview},
			{Name: "kind-limits", Useful: []operation.Operation{operation.Up, operation.Preview}},
			{Name: "kind-ports", Projects: own, Needed: up, Useful: preview, AfterQuestions: true},
		},
		refused: map[string]string{
			"cluster-autoscaler": "the number of its nodes is fixed when it is made, by kind:workers",
			"external-dns":       "no DNS leads to a cluster on this machine",
		},
		first: []node{
			{name: "kind-cluster"},
			{name: "kind-registry", reads: []string{"kind-cluster"}},
		},
	}
}

// kindQuestions returns the questions in the order in which they are asked.
func kindQuestions() []model.Question {
	return []model.Question{
		{Key: "kind:workers", Text: "Number of worker nodes"},
		{Key: "kind:http_port", Text: "Port of this machine for HTTP"},
		{Key: "kind:https_port", Text: "Port of this machine for HTTPS"},
		{Key: "kind:registry_port", Text: "Port of this machine for the registry"},
	}
}
