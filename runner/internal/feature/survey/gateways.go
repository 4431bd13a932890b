package survey

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"mara/config"
	"mara/projects/model"
)

// gateways finds the Gateways that applications name, and whether they take their routes. The certificates are theirs.
func (e *examination) gateways() {
	wanted := slices.DeleteFunc(slices.Clone(e.question.Projects), func(p model.Project) bool { return !p.IsApplication() || e.gatewayOf(p) == "" })
	if len(wanted) == 0 {
		return
	}
	items, ok := e.list("gateway.networking.k8s.io", "v1", "gateways", "")
	if !ok {
		e.doubt("", "the Gateways may not be listed: whether those that applications name are there is not known")
		return
	}
	var names []string
	for _, item := range items {
		names = append(names, item.GetNamespace()+"/"+item.GetName())
	}
	slices.Sort(names)
	for _, p := range wanted {
		name, host := e.gatewayOf(p), e.question.Settings.Text(p.Name+":host")
		i := slices.IndexFunc(items, func(item unstructured.Unstructured) bool { return item.GetNamespace()+"/"+item.GetName() == name })
		switch {
		case len(names) == 0:
			e.problem("install a controller of the Gateway API and make one, or take gateway out of the application",
				"%s names the Gateway %s, and the cluster has none", p.Name, name)
		case i < 0:
			e.problem("set "+p.Name+":gateway to one of them", "%s names the Gateway %s, and the cluster has %s%s", p.Name, name,
				strings.Join(names, ", "), config.DidYouMean(name, names))
		case !slices.ContainsFunc(maps(items[i], "spec", "listeners"), func(l map[string]any) bool { return serves(l, host) }):
			e.problem("have its owner add a listener for it, or set "+p.Name+":host", "no listener of the Gateway %s serves the host %s of %s",
				name, host, p.Name)
		case !slices.ContainsFunc(maps(items[i], "spec", "listeners"), func(l map[string]any) bool {
			return serves(l, host) && takesRoutes(l, items[i].GetNamespace() == p.Namespace)
		}):
			e.problem("have its owner allow the namespace "+p.Namespace+" in allowedRoutes of the listener",
				"the Gateway %s takes routes of its own namespace only, and %s has its own", name, p.Name)
		default:
			e.fact("%s is reached through the Gateway %s", p.Name, name)
		}
	}
}

// gatewayOf returns the Gateway of an application; "" if it has none.
func (e *examination) gatewayOf(p model.Project) string {
	return e.question.Settings.Text(p.Name + ":gateway")
}

// serves reports whether a listener takes HTTP requests for a host.
func serves(listener map[string]any, host string) bool {
	protocol, _ := listener["protocol"].(string)
	if protocol != "HTTP" && protocol != "HTTPS" {
		return false
	}
	name, _ := listener["hostname"].(string)
	domain, isWildcard := strings.CutPrefix(name, "*")
	return name == "" || name == host || isWildcard && strings.HasSuffix(host, domain)
}

// takesRoutes reports whether a listener may take routes of another namespace, or of its own. What a selector selects is not
// asked.
func takesRoutes(listener map[string]any, isOwn bool) bool {
	allowed, _ := listener["allowedRoutes"].(map[string]any)
	namespaces, _ := allowed["namespaces"].(map[string]any)
	switch from, _ := namespaces["from"].(string); from {
	case "All", "Selector":
		return true
	case "None":
		return false
	}
	return isOwn
}
