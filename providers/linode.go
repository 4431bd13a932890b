package providers

import (
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/operation"
)

// linode returns projects.Linode with its plan, checks and questions.
func linode() layout {
	return layout{
		Infrastructure: projects.Linode(),
		questions:      linodeQuestions(),
		trial:          linodeTrial(),
		first:          []node{{name: "linode-lke"}},
		refused:        map[string]string{"cluster-autoscaler": ownAutoscaler("lke")},
		plugins: []model.Plugin{
			{Name: "linode", Projects: []string{"linode-lke", "linode-harbor"}},
			{Name: "kubernetes", Projects: []string{"linode-harbor", "linode-registry-credentials"}},
		},
		checks: []model.Check{{
			Name: "account", Projects: []string{"linode-lke", "linode-harbor"}, Needed: operation.All(), AfterQuestions: true,
		}},
		following: map[string][]node{
			"secrets":         {{name: "linode-harbor", reads: []string{"kubeconfig", "secrets"}}},
			"kic-image-build": {{name: "linode-harbor-configuration", reads: []string{"linode-harbor"}}},
			"ingress-controller-namespace": {{
				name:  "linode-registry-credentials",
				reads: []string{"kubeconfig", "linode-harbor", "ingress-controller-namespace"},
			}},
		},
		after: map[string][]string{
			"kic-image-push":     {"linode-harbor-configuration"},
			"ingress-controller": {"linode-registry-credentials"},
		},
	}
}

// linodeQuestions returns the questions in the order in which they are asked.
func linodeQuestions() []model.Question {
	return append([]model.Question{
		{Key: "lke:region", Text: "Linode region", List: model.Regions},
		{Key: "lke:k8s_version", Text: "Kubernetes version", List: model.KubernetesVersions},
		{Key: "lke:node_type", Text: "Type of the nodes", List: model.NodeTypes},
		{Key: "lke:node_count", Text: "Number of nodes"},
		{Key: "lke:high_availability", Text: "Highly available control plane (costs extra, cannot be turned off later)"},
		{Key: "harbor:instance_type", Text: "Type of the registry's machine", List: model.NodeTypes},
		{Key: "harbor:email", Text: "Address for warnings about the registry's certificate (empty: none)"},
	}, certificateQuestions()...)
}
