package survey

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"mara/projects"
)

// distribution finds who made the cluster's Kubernetes.
func (e *examination) distribution() {
	name, why := e.distributionOf()
	e.made = name
	if name != "" {
		e.answer(projects.DistributionKey, name, why)
	}
	e.fact("Kubernetes %s, %s", e.version, cmp.Or(name, "of an unknown distribution"))
}

// distributionOf returns the distribution and the evidence. OpenShift is first, because it runs on the nodes of clouds;
// what the version says is before what the nodes say.
func (e *examination) distributionOf() (name, why string) {
	if groups, err := e.kinds.ServerGroups(); err == nil {
		for _, group := range groups.Groups {
			if group.Name == "config.openshift.io" {
				return "openshift", "it has the API group config.openshift.io"
			}
		}
	}
	for _, suffix := range []struct{ text, name string }{
		{"-gke.", "gke"}, {"+k3s", "k3s"}, {"+rke2r", "rke2"}, {"-eks-", "eks"}, {"+k0s", "k0s"},
	} {
		if strings.Contains(e.version, suffix.text) {
			return suffix.name, "its version is " + e.version
		}
	}
	for _, mark := range []struct{ label, name string }{
		{"doks.digitalocean.com/node-pool", "doks"}, {"lke.linode.com/pool-id", "lke"},
		{"kubernetes.azure.com/role", "aks"}, {"cloud.google.com/gke-nodepool", "gke"},
		{"eks.amazonaws.com/nodegroup", "eks"}, {"minikube.k8s.io/version", "minikube"},
		{"microk8s.io/cluster", "microk8s"}, {"node.k0sproject.io/role", "k0s"},
	} {
		for _, n := range e.all {
			if _, ok := n.labels[mark.label]; ok {
				return mark.name, "its nodes have the label " + mark.label
			}
		}
	}
	for _, n := range e.all {
		_, isRKE2 := n.annotations["rke2.io/node-args"]
		switch scheme, _, _ := strings.Cut(n.provider, "://"); {
		case isRKE2:
			return "rke2", "its nodes have the annotation rke2.io/node-args"
		case scheme == "kind" || scheme == "k3s":
			return scheme, "the providerID of its nodes begins with " + scheme + "://"
		case strings.HasPrefix(n.image, "Talos"):
			return "talos", "its nodes run " + n.image
		}
	}
	return "", ""
}

// clouds lists the schemes of providerIDs of clouds whose clusters have load balancers.
func clouds() []string { return []string{"aws", "gce", "azure", "linode", "digitalocean"} }

// entry finds how the ingress controller is reached.
func (e *examination) entry() {
	services, ok := e.list("", "v1", "services", "")
	if !ok {
		e.doubt("set "+projects.EntryKey, "the Services may not be listed: whether there are load balancers is not known")
	}
	kind, why := e.entryOf(services)
	e.answer(projects.EntryKey, kind, why)
	e.fact("entry by %s: %s", kind, why)
	if chosen := cmp.Or(e.question.Settings.Text(projects.EntryKey), kind); chosen != projects.NodePorts {
		return
	}
	e.portsOfNodes(services)
	for _, n := range e.all {
		if at := cmp.Or(n.external, n.internal); n.ready && n.schedulable && at != "" {
			e.answer(projects.AddressKey, at, "the address of the node "+n.name)
			return
		}
	}
	if e.question.Settings.Text(projects.AddressKey) == "" && e.question.Has(projects.IngressController().Name) {
		e.problem("set "+projects.AddressKey, "the address of a node, at which its ports are reached, is not known")
	}
}

// portsOfNodes finds the ports of the ingress controller that Services of others have.
func (e *examination) portsOfNodes(services []unstructured.Unstructured) {
	controller := projects.IngressController()
	if !e.question.Has(controller.Name) {
		return
	}
	for _, service := range services {
		if service.GetNamespace() == controller.Namespace && e.ours[controller.Namespace] {
			continue
		}
		for _, port := range maps(service, "spec", "ports") {
			number, _ := port["nodePort"].(int64)
			for _, key := range []string{projects.HTTPNodePort, projects.HTTPSNodePort} {
				if wanted, ok := e.question.Settings.Int(key); ok && number != 0 && int64(wanted) == number {
					e.problem("set "+key+" to another port", "the port %d of the nodes, which is %s, belongs to the Service %s/%s", number, key,
						service.GetNamespace(), service.GetName())
				}
			}
		}
	}
}

// entryOf returns the way into the cluster and the evidence. What runs already is first: a second run is to find what
// the first one has found.
func (e *examination) entryOf(services []unstructured.Unstructured) (kind, why string) {
	namespace := projects.IngressController().Namespace
	var balanced, holder string // a Service with an address, and one that has the ports of all nodes
	for _, service := range services {
		at := service.GetNamespace() + "/" + service.GetName()
		kind, _, _ := unstructured.NestedString(service.Object, "spec", "type")
		if service.GetNamespace() == namespace && e.ours[namespace] && kind == "NodePort" {
			return projects.NodePorts, "the Service " + at + " of this environment has them"
		}
		if service.GetNamespace() == namespace && e.ours[namespace] && kind == "LoadBalancer" {
			return projects.LoadBalancer, "the Service " + at + " of this environment has one"
		}
		if kind != "LoadBalancer" || len(maps(service, "status", "loadBalancer", "ingress")) == 0 {
			continue
		}
		balanced = cmp.Or(balanced, at)
		for _, port := range maps(service, "spec", "ports") {
			if number, _ := port["port"].(int64); number == 80 || number == 443 {
				holder = cmp.Or(holder, at)
			}
		}
	}
	isK3s := e.made == "k3s"
	for _, n := range e.all {
		scheme, _, _ := strings.Cut(n.provider, "://")
		if slices.Contains(clouds(), scheme) {
			return projects.LoadBalancer, "its nodes are of a cloud: " + scheme
		}
	}
	pools, _ := e.list("metallb.io", "v1beta1", "ipaddresspools", "")
	switch {
	case len(pools) > 0:
		return projects.LoadBalancer, "MetalLB has the pool " + pools[0].GetName()
	case isK3s && holder != "":
		return projects.NodePorts, "the Service " + holder + " holds the ports 80 and 443 of all nodes"
	case balanced != "":
		return projects.LoadBalancer, "the Service " + balanced + " has an address"
	case isK3s:
		return projects.LoadBalancer, "k3s gives Services the addresses of its nodes"
	}
	return projects.NodePorts, "nothing in the cluster gives Services an address"
}
