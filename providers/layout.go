package providers

import (
	"fmt"
	"slices"

	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/projects/model/operation"
)

// layout describes a provider by its additions to the shared list.
type layout struct {
	model.Infrastructure
	bundled   []string            // plugins that come with the runner
	first     []node              // before the shared list
	following map[string][]node   // inserted directly after a shared project
	after     map[string][]string // further order of shared projects
	when      map[string]string   // jq: conditions of projects, by name
	optional  []node              // further optional projects
	refused   map[string]string   // why it has no optional project of this name
	plugins   []model.Plugin      // of its own projects; the plugins of shared projects follow
	checks    []model.Check       // before the checks of the shared projects
	questions []model.Question
	trial     model.Trial
}

// node is a project by name, with its edges.
type node struct {
	name  string
	reads []string
	after []string
}

// shared returns the list that every provider has, in order. Only the names of the cluster and
// registry projects differ.
func (l layout) shared() []node {
	return []node{
		{name: "kubeconfig", reads: []string{l.ClusterProject}},
		{name: model.SecretsProject, reads: []string{"kubeconfig"}},
		{name: "kic-image-build"},
		{name: "kic-image-push", reads: []string{"kic-image-build", l.Registry.Project}},
		{name: "ingress-controller-namespace", reads: []string{"kubeconfig"}},
		{name: "ingress-controller", reads: []string{"kubeconfig", "ingress-controller-namespace", "kic-image-push"}},
		{name: "logstore", reads: []string{"kubeconfig"}},
		{name: "logagent", reads: []string{"kubeconfig", "logstore"}},
		{name: "certmgr", reads: []string{"kubeconfig"}},
		{name: "prometheus", reads: []string{"kubeconfig", "secrets"}, after: []string{"ingress-controller-namespace"}},
		{name: "observability", reads: []string{"kubeconfig"}, after: []string{"certmgr"}},
		{
			name:  "bank-of-anthos",
			reads: []string{"kubeconfig", "secrets", "ingress-controller"},
			after: []string{"certmgr", "prometheus", "observability"},
		},
	}
}

// inCluster returns the projects of all providers that deploy to the cluster, and so read its kubeconfig, with the
// optional ones.
func inCluster() []string {
	names := []string{
		"secrets", "ingress-controller-namespace", "ingress-controller", "logstore", "logagent", "certmgr",
		"prometheus", "observability", "bank-of-anthos",
	}
	return append(names, lists.Map(projects.Optional(), func(p model.Project) string { return p.Name })...)
}

// optional returns the projects that environments on every provider have if mara.yaml names them, in order.
func optional() []node {
	reads := []string{"kubeconfig"}
	return []node{
		{name: "guardrails", reads: reads},
		// A role in a namespace needs the namespace.
		{name: "access", reads: reads, after: []string{"guardrails"}},
		{name: "metrics-server", reads: reads},
		{name: "dashboard", reads: reads},
		// The controller is what its records lead to.
		{name: "external-dns", reads: reads, after: []string{"ingress-controller"}},
		{name: "backup", reads: reads},
	}
}

// ownAutoscaler returns why a cloud's cluster has no cluster autoscaler of ours.
func ownAutoscaler(group string) string {
	return fmt.Sprintf("its cluster changes the number of nodes itself, with %[1]s:min_nodes and %[1]s:max_nodes", group)
}

// sharedPlugins returns the plugins of the projects that every provider has.
func sharedPlugins() []model.Plugin {
	return []model.Plugin{
		{Name: "kubernetes", Projects: inCluster()},
		{Name: "docker", Projects: []string{"kic-image-build", "kic-image-push"}},
	}
}

// mergePlugins merges two lists of plugins, each plugin once.
func mergePlugins(own, shared []model.Plugin) []model.Plugin {
	all := slices.Clone(own)
	for _, plugin := range shared {
		i := slices.IndexFunc(all, func(p model.Plugin) bool { return p.Name == plugin.Name })
		if i < 0 {
			all = append(all, plugin)
			continue
		}
		all[i].Projects = slices.Concat(all[i].Projects, plugin.Projects)
	}
	return all
}

// nodes returns the complete list of the provider, in order.
func (l layout) nodes() []node {
	nodes := slices.Clone(l.first)
	for _, n := range l.shared() {
		n.after = append(n.after, l.after[n.name]...)
		nodes = append(nodes, n)
		nodes = append(nodes, l.following[n.name]...)
	}
	return nodes
}

// provider builds the provider, with its projects from the catalogue.
func (l layout) provider() model.Provider {
	p := model.Provider{
		Infrastructure: l.Infrastructure, BundledPlugins: l.bundled,
		Plugins:   mergePlugins(l.plugins, sharedPlugins()),
		Checks:    append(slices.Clone(l.checks), sharedChecks()...),
		Questions: l.questions, Trial: l.trial, Last: projects.BankOfAnthos().Name,
		WithSecrets: lists.Map(projects.WithSecrets(l.Name), func(p model.Project) string { return p.Name }),
	}
	catalogue := projects.All()
	p.Steps = l.steps(catalogue, l.nodes())
	shared := slices.DeleteFunc(optional(), func(n node) bool { return l.refused[n.name] != "" })
	p.Optional = model.Optional{Steps: l.steps(catalogue, append(shared, l.optional...)), Refused: l.refused}
	names := p.Complete().Names()
	for i, check := range p.Checks {
		p.Checks[i].Projects = only(names, check.Projects)
	}
	for i, plugin := range p.Plugins {
		p.Plugins[i].Projects = only(names, plugin.Projects)
	}
	return p
}

// only returns the elements of a list that are among names; nil stays nil.
func only(names, list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return !slices.Contains(names, name) })
}

// steps builds steps, with their projects from the catalogue.
func (l layout) steps(catalogue []model.Project, nodes []node) []model.Step {
	var steps []model.Step
	for _, n := range nodes {
		i := slices.IndexFunc(catalogue, func(p model.Project) bool { return p.Name == n.name })
		if i < 0 {
			panic(fmt.Sprintf("provider %s: the catalogue has no project %q", l.Name, n.name))
		}
		edges := needs.Needs{Reads: slices.Clone(n.reads), After: slices.Clone(n.after)}
		steps = append(steps, model.Step{Project: catalogue[i], When: l.when[n.name], Needs: edges})
	}
	return steps
}

// sharedChecks returns the checks of the projects that every provider has. Docker on this
// machine builds and stores the image of the ingress controller. A refresh looks at that image
// too, but the clusters do not need it for that.
func sharedChecks() []model.Check {
	return []model.Check{
		{
			Name: "docker", Projects: []string{"kic-image-build", "kic-image-push"},
			Needed: []operation.Operation{operation.Up, operation.Preview, operation.Destroy},
			Useful: []operation.Operation{operation.Refresh, operation.Drift},
		},
		{Name: "kubectl", Useful: []operation.Operation{operation.Up}},
	}
}

// certificateQuestions returns the questions for clusters that the internet can reach.
func certificateQuestions() []model.Question {
	return []model.Question{
		{Key: "certmgr:issuer", Text: "Where certificates come from"},
		{
			Key: "certmgr:acme_email", Text: "Address that the certificate authority writes to",
			When: &model.Condition{Key: "certmgr:issuer", Value: "acme"}, Required: true,
		},
	}
}
