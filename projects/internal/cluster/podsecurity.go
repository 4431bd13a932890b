package cluster

import "mara/projects"

// podSecurity is the strictest of the Pod Security Standards that everything in
// a namespace meets.
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
func (c *Cluster) podSecurity(namespace string) string {
	const baseline, privileged = "baseline", "privileged"
	switch namespace {
	case projects.BankOfAnthos().Namespace:
		return baseline // its databases start as root, to own their volumes
	case projects.IngressController().Namespace:
		if c.Local() {
			return privileged // it listens on ports of the node
		}
	case projects.LogAgent().Namespace:
		return privileged // it reads the logs on the node
	case projects.Logstore().Namespace:
		if !c.Local() {
			return privileged // an init container raises a limit of the node's kernel
		}
	case projects.Prometheus().Namespace:
		return privileged // node-exporter sees the node's processes, network and files
	}
	return "restricted"
}

// PodSecurityContext is what the level "restricted" demands of a pod.
func PodSecurityContext() Values {
	return Values{"runAsNonRoot": true, "seccompProfile": Values{"type": "RuntimeDefault"}}
}

// SecurityContext is what the level "restricted" demands of a container.
func SecurityContext() Values {
	return Values{"allowPrivilegeEscalation": false, "capabilities": Values{"drop": []string{"ALL"}}}
}
