package providers

import "mara/operation"

// linode hosts the cluster in LKE. Linode has no registry of its own: Harbor
// runs on an instance, is configured once its address is known, and the
// cluster needs credentials to pull from it.
func linode() layout {
	return layout{
		name:      "linode",
		title:     "Linode",
		cluster:   "linode-lke",
		registry:  "linode-harbor",
		questions: linodeQuestions(),
		first:     []node{{name: "linode-lke"}},
		plugins: []Plugin{
			{Name: "linode", Projects: []string{"linode-lke", "linode-harbor"}},
			{Name: "kubernetes", Projects: []string{"linode-harbor", "linode-registry-credentials"}},
		},
		checks: []Check{{Name: "account", Projects: []string{"linode-lke", "linode-harbor"}, Needed: operation.All(), Answers: true}},
		behind: map[string][]node{
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
