package survey

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"mara/config"
	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/machine/typeset"
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
		e.ours[item.GetName()] = isMade(item) && labels["mara.dev/stack"] == ourLabel(e.question.Stack) &&
			!slices.Contains(e.question.Absent, labels["mara.dev/project"])
	}
}

// isMade reports whether an environment has made an object.
func isMade(item unstructured.Unstructured) bool {
	return item.GetLabels()["app.kubernetes.io/managed-by"] == "mara"
}

// taken finds namespaces that are in the place of those of the environment: of others, and any that is on its way out.
func (e *examination) taken() {
	for _, item := range e.spaces {
		name := item.GetName()
		maker, isWanted := e.maker(name)
		switch {
		case !isWanted:
		case item.GetDeletionTimestamp() != nil:
			e.problem("wait until it is gone; `kubectl get namespace "+name+" -o jsonpath='{.status.conditions}'` tells what "+
				"keeps it", "the namespace %s is being deleted%s, and nothing can be made in it", name, keeps(item))
		case isMade(item) && item.GetLabels()["mara.dev/stack"] == ourLabel(e.question.Stack):
			claim := cloud.Claim{Project: item.GetLabels()["mara.dev/project"], Obstacle: cloud.Obstacle{
				Text: fmt.Sprintf("the namespace %s belongs to an environment %s whose states are not these: one of another repository, which "+
					"runs on the same cluster", name, e.question.Stack),
				Next: "name another context for one of the two environments; if this one was deployed with other states, name their backend",
			}}
			if e.ours[name] {
				e.found.Claims = append(e.found.Claims, claim)
			} else {
				e.found.Problems = append(e.found.Problems, claim.Obstacle)
			}
		case isMade(item):
			e.problem("name another context for one of the two environments",
				"the namespace %s belongs to the environment %s, which runs on the same cluster", name,
				item.GetLabels()["mara.dev/stack"])
		case maker.Own != nil:
			e.problem("give the application another name in "+config.MaraFile+": its namespace has that name",
				"the namespace %s is there already, and this environment has not made it", name)
		default:
			e.problem("leave its project out: `without` in mara.yaml, or --skip",
				"the namespace %s is there already, and this environment has not made it", name)
		}
	}
}

// keeps returns what the namespace controller says of a namespace that does not go.
func keeps(namespace unstructured.Unstructured) string {
	for _, condition := range maps(namespace, "status", "conditions") {
		kind, _ := condition["type"].(string)
		message, _ := condition["message"].(string)
		if condition["status"] == "True" && strings.HasPrefix(kind, "Namespace") && message != "" {
			return " (" + message + ")"
		}
	}
	return ""
}

// maker returns the project that will run and makes a namespace.
func (e *examination) maker(name string) (model.Project, bool) {
	return lists.Find(e.question.Projects, func(p model.Project) bool {
		used := p.Name == projects.CertManager().Name && e.foreign
		return p.Namespace == name && !used
	})
}

// remains finds what a cert-manager of others that runs no more has left behind: Helm refuses to take it over.
func (e *examination) remains(definitions []unstructured.Unstructured) {
	const release = "cert-manager"
	project := projects.CertManager()
	isLeft := func(item unstructured.Unstructured) bool { // Helm takes what has its own marks
		annotations := item.GetAnnotations()
		return annotations["meta.helm.sh/release-name"] != release ||
			annotations["meta.helm.sh/release-namespace"] != project.Namespace ||
			item.GetLabels()["app.kubernetes.io/managed-by"] != "Helm"
	}
	var left []string
	for _, item := range definitions {
		if group, _, _ := unstructured.NestedString(item.Object, "spec", "group"); isLeft(item) &&
			(group == "cert-manager.io" || group == "acme.cert-manager.io") {
			left = append(left, "crd/"+item.GetName())
		}
	}
	if len(left) > 0 {
		// Deleting a definition would delete the certificates of everybody: Helm takes over what has its marks.
		all := strings.Join(left, " ")
		e.problem("if they are nobody's, have Helm take them over, which keeps all certificates: "+
			"`kubectl annotate --overwrite "+all+" meta.helm.sh/release-name="+release+" meta.helm.sh/release-namespace="+
			project.Namespace+" && kubectl label --overwrite "+all+" app.kubernetes.io/managed-by=Helm`",
			"%s of a cert-manager that does not run %s left in the cluster, and Helm refuses to take over what it has not made",
			typeset.Counted(len(left), "definition"), typeset.Are(len(left)))
	}
	left = nil
	for _, kind := range []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"} {
		items, ok := e.list("rbac.authorization.k8s.io", "v1", kind, "app.kubernetes.io/instance="+release)
		if !ok {
			e.doubt("", "the %s may not be listed: whether an earlier cert-manager has left any is not known", kind)
			return
		}
		for _, item := range items {
			if !isLeft(item) {
				continue
			}
			name := strings.TrimSuffix(kind, "s") + "/" + item.GetName()
			if item.GetNamespace() != "" {
				name = "-n " + item.GetNamespace() + " " + name
			}
			left = append(left, "kubectl delete "+name)
		}
	}
	if len(left) > 0 {
		e.problem("if nothing uses them: `"+strings.Join(left, "`, `")+"`",
			"%s of a cert-manager that does not run %s left in the cluster, and Helm refuses to take over what it has not made",
			typeset.Counted(len(left), "role or binding"), typeset.Are(len(left)))
	}
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
			return
		}
		e.remains(definitions)
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

// hosts finds host names of applications that others serve already: a controller takes one Ingress for a host.
func (e *examination) hosts() {
	wanted := map[string]model.Project{}
	for _, p := range e.question.Projects {
		host, gateway := e.question.Settings.Text(p.Name+":host"), e.question.Settings.Text(p.Name+":gateway")
		if host != "" && gateway == "" && p.Namespace != "" {
			if other, taken := wanted[host]; taken {
				e.problem("give one of the two another host", "%s and %s both have the host %s", other.Name, p.Name, host)
			}
			wanted[host] = p
		}
	}
	if len(wanted) == 0 {
		return
	}
	items, ok := e.list("networking.k8s.io", "v1", "ingresses", "")
	if !ok {
		e.doubt("", "the Ingresses may not be listed: whether others serve the same hosts is not known")
		return
	}
	for _, item := range items {
		for _, rule := range maps(item, "spec", "rules") {
			host, _ := rule["host"].(string)
			if p, isWanted := wanted[host]; isWanted && item.GetNamespace() != p.Namespace {
				e.problem("set "+p.Name+":host to another name, or have its owner give up the host", "the host %s of %s is served already, by the Ingress %s/%s",
					host, p.Name, item.GetNamespace(), item.GetName())
			}
		}
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
