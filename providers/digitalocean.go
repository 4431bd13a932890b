package providers

import (
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/operation"
)

// digitalocean returns projects.DigitalOcean with its plan, checks and questions.
func digitalocean() layout {
	own := []string{"digitalocean-doks", "digitalocean-registry", "digitalocean-registry-credentials", "digitalocean-dns"}
	return layout{
		Infrastructure: projects.DigitalOcean(),
		questions:      digitaloceanQuestions(),
		trial:          digitaloceanTrial(),
		first:          []node{{name: "digitalocean-doks"}, {name: "digitalocean-registry"}},
		refused: map[string]string{
			"cluster-autoscaler": ownAutoscaler("doks"),
			"external-dns": "external-dns knows DigitalOcean no longer, since version 0.21; digitalocean-dns makes the record " +
				"of the application, with dns:domain",
		},
		plugins: []model.Plugin{
			{Name: "digitalocean", Projects: own},
			{Name: "kubernetes", Projects: []string{"digitalocean-registry-credentials"}},
		},
		checks: []model.Check{{Name: "account", Projects: own, Needed: operation.All(), AfterQuestions: true}},
		following: map[string][]node{
			"ingress-controller-namespace": {{
				name:  "digitalocean-registry-credentials",
				reads: []string{"kubeconfig", "digitalocean-registry", "ingress-controller-namespace"},
			}},
			"ingress-controller": {{name: "digitalocean-dns", reads: []string{"ingress-controller"}}},
		},
		after: map[string][]string{
			"ingress-controller": {"digitalocean-registry-credentials"},
			// A certificate authority has to find the host, and the runner waits until the
			// application answers there.
			"bank-of-anthos": {"digitalocean-dns"},
		},
	}
}

// digitaloceanQuestions returns the questions in the order in which they are asked.
func digitaloceanQuestions() []model.Question {
	return append([]model.Question{
		{Key: "doks:region", Text: "DigitalOcean region", List: model.Regions},
		{Key: "doks:k8s_version", Text: "Kubernetes version", List: model.KubernetesVersions},
		{Key: "doks:node_size", Text: "Size of the nodes", List: model.NodeTypes},
		{Key: "doks:node_count", Text: "Number of nodes"},
		{Key: "doks:high_availability", Text: "Highly available control plane (costs extra, cannot be turned off later)"},
		{Key: "docr:registry", Text: "Existing registry of the account (empty: create one)"},
		{Key: "bank-of-anthos:host", Text: "Host name of the application (empty: the load balancer's address)"},
		{Key: "dns:domain", Text: "Domain at DigitalOcean to put that name into (empty: none)"},
	}, certificateQuestions()...)
}

// digitaloceanTrial returns a trial with the smallest nodes that fit the platform. The control
// plane and the registry cost nothing:
// docs.digitalocean.com/products/kubernetes/details/pricing, which also says that a month has
// 672 hours. Nodes cost what the sheet of package cost says. Load balancers have prices of 10
// and of 12 dollars a month; this is the higher one.
func digitaloceanTrial() model.Trial {
	return model.Trial{
		Settings: append([]model.Setting{{Key: "doks:node_size", Value: "s-4vcpu-8gb"}, {Key: "doks:node_count", Value: 2}}, single()...),
		Costs: []model.Cost{
			{What: "2 nodes s-4vcpu-8gb", PerHour: 2 * 48.0 / 672}, {What: "load balancer", PerHour: 12.0 / 672}, {What: "volumes, 60 GiB", PerHour: 60 * 0.10 / 672},
		},
	}
}
