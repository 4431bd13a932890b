package cluster

import "mara/projects"

// podSecurity returns the strictest of the Pod Security Standards that everything in a
// namespace meets. https://kubernetes.io/docs/concepts/security/pod-security-standards/
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
		if !c.Small() {
			return privileged // an init container raises a limit of the node's kernel
		}
		if !c.Local() {
			return baseline // an init container takes over the volume
		}
	case projects.Backup().Namespace:
		return privileged // its agents read the volumes on the node
	case projects.Prometheus().Namespace:
		return privileged // node-exporter sees the node's processes, network and files
	}
	return "restricted"
}

// PodSecurityContext returns the security context of a pod at the level "restricted".
func PodSecurityContext() Values {
	return Values{"runAsNonRoot": true, "seccompProfile": Values{"type": "RuntimeDefault"}}
}

// Resources returns what a container requests, and the memory that it may have: far above what it needs, so that it ends one
// that leaks, and not the node that it runs on. The values of a release change it.
func Resources(cpu, memory, limit string) Values {
	return Values{"requests": Values{"cpu": cpu, "memory": memory}, "limits": Values{"memory": limit}}
}

// SecurityContext returns the security context of a container at the level "restricted".
func SecurityContext() Values {
	return Values{"allowPrivilegeEscalation": false, "capabilities": Values{"drop": []string{"ALL"}}}
}
