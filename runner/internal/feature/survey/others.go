package survey

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
)

// ourLabel returns the value of the label that objects of the environment have: see cluster.Connect.
func ourLabel(stack string) string {
	return strings.Trim(stack[:min(len(stack), 63)], "-_.")
}

// namespaces finds the namespaces that the environment has made.
func (e *examination) namespaces() {
	e.ours = map[string]bool{}
	items, ok := e.list("", "v1", "namespaces", "")
	if !ok {
		e.doubt("", "the namespaces may not be listed: whether others use the same ones is not known")
		return
	}
	e.spaces = items
	for _, item := range items {
		labels := item.GetLabels()
		e.ours[item.GetName()] = isMade(item) && labels["mara.dev/stack"] == ourLabel(e.question.Stack)
	}
}

// isMade reports whether an environment has made an object.
func isMade(item unstructured.Unstructured) bool {
	return item.GetLabels()["app.kubernetes.io/managed-by"] == "mara"
}

// taken finds namespaces of others in the place of those of the environment.
func (e *examination) taken() {
	for _, item := range e.spaces {
		name := item.GetName()
		switch {
		case e.ours[name] || !e.makes(name):
		case isMade(item):
			e.problem("name another context for one of the two environments",
				"the namespace %s belongs to the environment %s, which runs on the same cluster", name,
				item.GetLabels()["mara.dev/stack"])
		default:
			e.problem("leave its project out: `without` in mara.yaml, or --skip",
				"the namespace %s is there already, and this environment has not made it", name)
		}
	}
}

// makes reports whether a project that will run makes a namespace.
func (e *examination) makes(name string) bool {
	return slices.ContainsFunc(e.question.Projects, func(p model.Project) bool {
		used := p.Name == projects.CertManager().Name && e.foreign
		return p.Namespace == name && p.Own == nil && !used
	})
}

// certManager finds a cert-manager that others have installed: it is used, and no second one is installed.
func (e *examination) certManager() {
	if !e.question.Has(projects.CertManager().Name) {
		return
	}
	install := e.question.Settings.Bool(projects.InstallCertKey)
	isSet := e.question.Settings.IsSet(projects.InstallCertKey)
	running, ok := e.list("apps", "v1", "deployments",
		"app.kubernetes.io/name=cert-manager,app.kubernetes.io/component=controller")
	definitions, known := e.list("apiextensions.k8s.io", "v1", "customresourcedefinitions", "")
	if !ok || !known {
		if !isSet {
			e.problem("ask its administrators, and set "+projects.InstallCertKey+" to true or false",
				"whether the cluster has cert-manager already is not known: its Deployments or definitions may not be listed")
		}
		return
	}
	served := slices.ContainsFunc(definitions, func(item unstructured.Unstructured) bool {
		return item.GetName() == "certificates.cert-manager.io"
	})
	if len(running) == 0 {
		if isSet && !install {
			e.problem("unset "+projects.InstallCertKey, "%s is false, but no cert-manager runs in the cluster",
				projects.InstallCertKey)
		}
		return
	}
	deployment := running[0]
	if e.ours[deployment.GetNamespace()] {
		e.answer(projects.InstallCertKey, true, "this environment has installed it")
		return
	}
	e.foreign = true
	version := deployment.GetLabels()["app.kubernetes.io/version"]
	what := strings.TrimSpace("cert-manager " + version)
	e.answer(projects.InstallCertKey, false, what+" runs in the namespace "+deployment.GetNamespace())
	switch {
	case isSet && install:
		e.problem("unset "+projects.InstallCertKey+", which uses the one that is there",
			"%s runs in the namespace %s, and a second one would take over its definitions", what, deployment.GetNamespace())
	case !served:
		e.problem("repair it first", "%s runs in the namespace %s, but the cluster has no definition of Certificates",
			what, deployment.GetNamespace())
	default:
		e.fact("certificates: %s in the namespace %s, which others have installed, is used", what,
			deployment.GetNamespace())
	}
}

// prometheus finds a Prometheus that others have installed: two operators would fight for the same definitions.
func (e *examination) prometheus() {
	if !e.question.Has(projects.Prometheus().Name) {
		return
	}
	items, ok := e.list("monitoring.coreos.com", "v1", "prometheuses", "")
	if !ok {
		e.doubt("", "the objects of Prometheus' operator may not be listed: whether others have installed it is not known")
		return
	}
	isForeign := func(item unstructured.Unstructured) bool { return !e.ours[item.GetNamespace()] }
	if item, ok := lists.Find(items, isForeign); ok {
		e.problem("leave the project prometheus out: `without: [prometheus]` in mara.yaml, or --skip prometheus",
			"others have installed Prometheus (%s in the namespace %s), and a second operator would take over its definitions",
			item.GetName(), item.GetNamespace())
	}
}

// ingressClasses finds controllers of others.
func (e *examination) ingressClasses() {
	items, ok := e.list("networking.k8s.io", "v1", "ingressclasses", "")
	if !ok || !e.question.Has(projects.IngressController().Name) {
		return
	}
	var names []string
	for _, item := range items {
		annotations := item.GetAnnotations()
		if e.ours[annotations["meta.helm.sh/release-namespace"]] {
			continue
		}
		names = append(names, item.GetName())
		if item.GetName() == "nginx" {
			e.problem("leave the project ingress-controller out, and what needs it", "the IngressClass nginx belongs to others")
		}
		if annotations["ingressclass.kubernetes.io/is-default-class"] == "true" {
			e.doubt("", "the IngressClass %s of others is the default, too: Ingresses without a class are refused then",
				item.GetName())
		}
	}
	if len(names) > 0 {
		e.fact("other ingress classes: %s", strings.Join(names, ", "))
	}
}
