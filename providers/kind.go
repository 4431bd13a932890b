package providers

import (
	"mara/operation"
	"mara/projects"
)

// kind is projects.Kind with its plan, checks and questions.
func kind() layout {
	return layout{
		Infrastructure: projects.Kind(),
		questions:      kindQuestions(),
		bundled:        []string{"kind"},
		plugins:        []Plugin{{Name: "kind", Projects: []string{"kind-cluster", "kind-registry"}}},
		checks: []Check{
			{Name: "kind-runtime", Needed: operation.All()}, // the cluster itself runs in it
			{Name: "kind-resources", Needed: []operation.Operation{operation.Up}, Useful: []operation.Operation{operation.Preview}},
			{Name: "kind-limits", Useful: []operation.Operation{operation.Up, operation.Preview}},
			{Name: "kind-ports", Projects: []string{"kind-cluster", "kind-registry"}, Needed: []operation.Operation{operation.Up}, Useful: []operation.Operation{operation.Preview}, AfterQuestions: true},
		},
		first: []node{
			{name: "kind-cluster"},
			{name: "kind-registry", reads: []string{"kind-cluster"}},
		},
	}
}

// kindQuestions are in the order in which they are asked.
func kindQuestions() []Question {
	return []Question{
		{Key: "kind:workers", Text: "Number of worker nodes"},
		{Key: "kind:http_port", Text: "Port of this machine for HTTP"},
		{Key: "kind:https_port", Text: "Port of this machine for HTTPS"},
		{Key: "kind:registry_port", Text: "Port of this machine for the registry"},
	}
}
