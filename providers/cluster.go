package providers

import (
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/operation"
)

// withRegistry is the condition of projects that need a registry.
const withRegistry = `(.config["cluster:registry"] // "") != ""`

// cluster returns projects.ExistingCluster with its plan, checks and questions.
func cluster() layout {
	return layout{
		Infrastructure: projects.ExistingCluster(),
		questions:      clusterQuestions(),
		first:          []node{{name: "cluster-connection"}, {name: "cluster-registry"}},
		plugins:        []model.Plugin{{Name: "kubernetes", Projects: []string{"cluster-registry-credentials"}}},
		checks: []model.Check{
			{Name: "account", Needed: operation.All(), AfterQuestions: true},
			{
				Name: "cluster", AfterQuestions: true,
				Needed: []operation.Operation{operation.Up}, Useful: []operation.Operation{operation.Preview},
			},
		},
		following: map[string][]node{
			"ingress-controller-namespace": {{
				name:  "cluster-registry-credentials",
				reads: []string{"kubeconfig", "cluster-registry", "ingress-controller-namespace"},
			}},
		},
		after:   map[string][]string{"ingress-controller": {"cluster-registry-credentials"}},
		refused: map[string]string{"cluster-autoscaler": "only its owner changes the number of its nodes"},
		when: map[string]string{
			"cluster-registry": withRegistry, "cluster-registry-credentials": withRegistry,
			"kic-image-build": withRegistry, "kic-image-push": withRegistry,
		},
	}
}

// clusterQuestions returns the questions in the order in which they are asked.
func clusterQuestions() []model.Question {
	return append([]model.Question{
		{Key: "cluster:kubeconfig", Text: "Kubeconfig file", List: model.Kubeconfigs},
		{Key: "cluster:context", Text: "Context of the cluster", List: model.Contexts},
		{Key: projects.IdentityKey, Text: "Cluster of the environment, by its UID (empty: not compared)", List: model.Identities},
		{Key: "cluster:registry", Text: "Registry of your own (empty: none)"},
		{Key: "bank-of-anthos:host", Text: "Host name of the demo application (empty: the cluster's address)"},
	}, certificateQuestions()...)
}
