package clouds

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mara/runner/internal/feature/simulate"
)

// helmRelease returns the type of charts that the provider installs with Helm.
func helmRelease() simulate.Resource {
	return simulate.Resource{
		Token:   "kubernetes:helm.sh/v3:Release",
		Latency: seconds(60, 30, 15), AutoName: "name", ReplaceOn: []string{"name", "namespace"},
		ID: func(o simulate.Object) string { return releaseNamespace(o) + "/" + o.Text("name") },
		Check: every(wellFormed("name", isReleaseName, "is not a name for a release"),
			func(o simulate.Object) []simulate.Problem {
				return checkSource(o.Text("chart"), o.Text("repositoryOpts.repo"))
			}),
		Links: releaseLinks, Refuses: keepsClaimTemplates,
		Outputs: func(o simulate.Object) map[string]any {
			namespace := releaseNamespace(o)
			return map[string]any{
				"namespace": namespace,
				"status": map[string]any{
					"appVersion": o.TextOr("version", "0.0.0"), "chart": chartOf(o), "name": o.Text("name"), "namespace": namespace,
					"revision": 1, "status": "deployed", "version": o.TextOr("version", "0.0.0"),
				},
				"resourceNames": map[string]any{"Service/v1": serviceNames(o)},
			}
		},
	}
}

// claimTemplates lists the values of charts that become the volume claim templates of a StatefulSet, but for the size: the
// runner makes volumes bigger before the release is upgraded, or refuses.
// https://github.com/opensearch-project/helm-charts/blob/main/charts/opensearch/templates/statefulset.yaml
func claimTemplates() map[string][]string {
	return map[string][]string{"opensearch": {
		"persistence.enabled", "persistence.storageClass",
		"persistence.accessModes", "persistence.annotations",
	}}
}

// keepsClaimTemplates refuses an upgrade of a chart that would change the claim templates of a
// StatefulSet, as the API server does. https://github.com/VictoriaMetrics/helm-charts/issues/2460
func keepsClaimTemplates(before, after simulate.Object) string {
	chart := chartOf(after)
	for _, path := range claimTemplates()[chart] {
		if !changed(before, after, "values."+path) {
			continue
		}
		set := after.TextOr("values.clusterName", "opensearch-cluster") + "-" + after.TextOr("values.nodeGroup", "master")
		return fmt.Sprintf("Helm release %q: cannot patch %q with kind StatefulSet: StatefulSet.apps %q is invalid: spec: "+
			"Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "+
			"'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' "+
			"and 'minReadySeconds' are forbidden (value %s)",
			after.ID, set, set, path)
	}
	return ""
}

func releaseNamespace(o simulate.Object) string {
	return o.TextOr("namespace", o.Config("namespace", "default"))
}

// chartOf returns the chart's name without its repository.
func chartOf(o simulate.Object) string {
	return strings.TrimSuffix(path.Base(o.Text("chart")), ".tgz")
}

func isReleaseName(text string) bool { return len(text) <= 53 && objectName.MatchString(text) }

// checkSource finds charts that cannot be fetched.
func checkSource(chart, repository string) []simulate.Problem {
	isOCI := strings.HasPrefix(chart, "oci://")
	switch {
	case isOCI && repository != "":
		return refuse("repositoryOpts.repo", "goes with the chart's plain name, not with an oci:// address")
	case !isOCI && repository == "" && chart != "" && !strings.ContainsAny(chart, "/."):
		return refuse("chart", "chart %q has neither an oci:// address nor repositoryOpts.repo", chart)
	case repository != "" && !strings.HasPrefix(repository, "https://") && !strings.HasPrefix(repository, "http://"):
		return refuse("repositoryOpts.repo", "%q is not the address of a repository", repository)
	}
	return nil
}

func releaseLinks(o simulate.Object) simulate.Links {
	var l simulate.Links
	if o.Value("createNamespace") == true {
		l.Provides = facts(namespaceFact(o, releaseNamespace(o)))
	} else {
		l.Requires = inNamespace(o, releaseNamespace(o))
	}
	l.Provides = append(l.Provides, facts(definitions(o)...)...)
	for _, name := range serviceNames(o) {
		l.Provides = append(l.Provides, facts(fmt.Sprintf("%s/service/%v", o.Scope, name))...)
	}
	return l
}

// definers lists the charts that define custom kinds in their templates, by API
// group; definedKinds lists the other charts.
func definers() map[string][]string {
	return map[string][]string{
		"cert-manager.io":       {"cert-manager"},
		"acme.cert-manager.io":  {"cert-manager"},
		"monitoring.coreos.com": {"kube-prometheus-stack", "prometheus-operator-crds"},
		"opentelemetry.io":      {"opentelemetry-operator"},
	}
}

// definitions returns the facts that a release makes kinds known.
func definitions(o simulate.Object) []string {
	chart := chartOf(o)
	if !installsDefinitions(o, chart) {
		return nil
	}
	var facts []string
	for group, charts := range definers() {
		if slices.Contains(charts, chart) {
			facts = append(facts, definitionFact(o, group))
		}
	}
	for _, k := range definedKinds()[chart] {
		facts = append(facts, kindFact(o, k.group, k.kind))
	}
	slices.Sort(facts)
	return facts
}

// installsDefinitions knows the switches of the charts.
func installsDefinitions(o simulate.Object, chart string) bool {
	switch chart {
	case "cert-manager": // off by default
		return o.Value("values.crds.enabled") == true || o.Value("values.installCRDs") == true
	case "kube-prometheus-stack":
		return o.Value("values.crds.enabled") != false && o.Value("skipCrds") != true
	case "opentelemetry-operator": // templates, which skipCrds does not skip
		return o.Value("values.crds.create") != false
	}
	return o.Value("skipCrds") != true
}

func definitionFact(o simulate.Object, group string) string { return o.Scope + "/kinds/" + group }

// needsDefinition refuses custom kinds that nothing has defined yet, as far as
// it is known which chart defines them.
func needsDefinition(o simulate.Object) []simulate.Requirement {
	apiVersion, kind := apiVersionAndKind(o.Token)
	group, _, _ := strings.Cut(apiVersion, "/")
	fact := definitionFact(o, group)
	switch {
	case isDefined(group):
		fact = kindFact(o, group, kind)
	case definers()[group] == nil:
		return nil
	}
	missing := fmt.Sprintf("no matches for kind %q in version %q", kind, apiVersion)
	return []simulate.Requirement{{Fact: fact, Missing: missing}}
}

// serviceNames returns the names that the charts give to Services which programs look
// up after a release.
func serviceNames(o simulate.Object) []any {
	if chartOf(o) != "nginx-ingress" {
		return []any{}
	}
	full := o.Text("name")
	if !strings.Contains(full, "nginx-ingress") {
		full += "-nginx-ingress"
	}
	return []any{releaseNamespace(o) + "/" + full + "-controller"}
}
