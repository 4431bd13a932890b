package projects

import (
	"slices"

	"mara/projects/model"
)

// AccessOf lists the resources of the API server that a project of the catalogue makes, those of its charts included.
// It returns none for projects that make none, and for projects of users other than applications: what those make is not
// known before they run.
func AccessOf(p model.Project) []model.Access {
	in := func(names ...string) []model.Access { return model.AccessTo(p.Namespace, names...) }
	everywhere := func(names ...string) []model.Access { return model.AccessTo("", names...) }
	made := everywhere("namespaces")
	// What most charts consist of. Helm keeps a release in Secrets.
	chart := in("secrets", "configmaps", "serviceaccounts", "services", "deployments.apps",
		"roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io", "poddisruptionbudgets.policy")
	roles := everywhere("clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io")
	definitions := everywhere("customresourcedefinitions.apiextensions.k8s.io")
	webhooks := everywhere("mutatingwebhookconfigurations.admissionregistration.k8s.io",
		"validatingwebhookconfigurations.admissionregistration.k8s.io")
	if p.Own != nil {
		return p.Own.Access
	}
	switch p.Name {
	case model.SecretsProject, "ingress-controller-namespace":
		return slices.Concat(made, everywhereSecrets(p))
	case ClusterRegistryCredentials().Name:
		return model.AccessTo(IngressController().Namespace, "secrets")
	case IngressController().Name:
		return slices.Concat(chart, roles, definitions, everywhere("ingressclasses.networking.k8s.io"))
	case Logstore().Name:
		return slices.Concat(made, chart, in("statefulsets.apps"))
	case LogAgent().Name:
		return slices.Concat(made, chart, roles, in("daemonsets.apps"))
	case CertManager().Name:
		// Leaders are elected in kube-system.
		elections := model.AccessTo("kube-system", "roles.rbac.authorization.k8s.io",
			"rolebindings.rbac.authorization.k8s.io")
		return slices.Concat(made, chart, roles, definitions, webhooks, elections, in("jobs.batch"),
			everywhere("clusterissuers.cert-manager.io"))
	case Prometheus().Name:
		monitors := in("prometheuses.monitoring.coreos.com", "alertmanagers.monitoring.coreos.com",
			"servicemonitors.monitoring.coreos.com", "podmonitors.monitoring.coreos.com",
			"prometheusrules.monitoring.coreos.com")
		return slices.Concat(made, chart, roles, definitions, webhooks, monitors,
			in("daemonsets.apps", "statefulsets.apps", "jobs.batch", "persistentvolumeclaims"),
			model.AccessTo("kube-system", "services"))
	case Observability().Name:
		return slices.Concat(made, chart, roles)
	case MetricsServer().Name:
		return slices.Concat(made, chart, roles, everywhere("apiservices.apiregistration.k8s.io"),
			model.AccessTo("kube-system", "rolebindings.rbac.authorization.k8s.io"))
	case Dashboard().Name, ExternalDNS().Name:
		return slices.Concat(made, chart, roles, definitions)
	case Guardrails().Name:
		return slices.Concat(made, everywhere("resourcequotas", "limitranges", "networkpolicies.networking.k8s.io",
			"priorityclasses.scheduling.k8s.io"))
	case Access().Name:
		return slices.Concat(made, in("serviceaccounts"), roles, everywhere("rolebindings.rbac.authorization.k8s.io"))
	case Backup().Name:
		return slices.Concat(made, chart, roles, definitions, in("daemonsets.apps", "jobs.batch", "schedules.velero.io",
			"backupstoragelocations.velero.io"))
	case BankOfAnthos().Name:
		return slices.Concat(made, in("secrets", "configmaps", "serviceaccounts", "services", "deployments.apps",
			"statefulsets.apps", "ingresses.networking.k8s.io", "poddisruptionbudgets.policy",
			"networkpolicies.networking.k8s.io", "podmonitors.monitoring.coreos.com"))
	}
	return nil
}

// everywhereSecrets returns the Secrets that the project secrets makes in the namespaces of other projects.
func everywhereSecrets(p model.Project) []model.Access {
	var all []model.Access
	if p.Name != model.SecretsProject {
		return nil
	}
	for _, project := range WithSecrets(ExistingCluster().Name) {
		all = append(all, model.AccessTo(project.Namespace, "secrets")...)
	}
	return all
}
