package check

import (
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/core/contract"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/typeset"
)

// claimed is what a project claims in the cluster of its environment.
type claimed struct {
	contract.Claim
	project model.Project
	unsaid  bool // no rule compares it with applications
}

// isOwn reports whether it is from a program of the user, which may deploy to another cluster than the environment's.
func (c claimed) isOwn() bool { return c.project.Own != nil && !c.project.IsApplication() }

// taken is a finding about what a project claims and another object has.
type taken struct {
	Finding
	project string
}

// takenPlaces finds names, hosts with their paths and ports of nodes that two objects of an environment claim. Within one
// program that is certainly wrong. Where a program of the user is one of two, it is a warning: it may have a cluster of
// its own.
func takenPlaces(s *session.Resolved) (found []taken) {
	in := []string{s.Settings.Stack.Text}
	first := map[string]claimed{}
	for _, c := range claimsOf(s) {
		other, isTaken := first[c.What]
		switch {
		case !isTaken:
			first[c.What] = c
			continue
		case other.project.Name == c.project.Name && (c.project.Own == nil || other.Cluster != c.Cluster):
			continue
		case !c.isOwn() && !other.isOwn() && !other.unsaid:
			continue // the rules of applications, and the list of their names, have said so
		}
		text := fmt.Sprintf("the resource %s of %s has %s, which %s of %s has already; only one can have it", c.Resource,
			c.project.Name, c.What, other.of(), other.project.Name)
		mayDiffer := other.project.Name != c.project.Name && (c.isOwn() || other.isOwn())
		if mayDiffer {
			text += fmt.Sprintf(" in the cluster of %s", s.Provider.Name)
		}
		found = append(found, taken{
			Finding{Problem: c.Problem(text), Kind: Projects, Doubt: mayDiffer, Environments: in}, c.project.Name,
		})
	}
	return found
}

// of names what has a claim in a project.
func (c claimed) of() string {
	if c.Resource == "" {
		return "something"
	}
	return "the resource " + c.Resource
}

// claimsOf lists what the projects of an environment claim: first the built-in ones, then applications and own projects in
// the order of the plan.
func claimsOf(s *session.Resolved) (all []claimed) {
	values := s.Provider.Values(s.Settings.Config)
	for _, step := range s.Plan.Steps {
		if step.Project.Own == nil {
			for _, what := range builtInClaims(s.Provider, step.Project, values) {
				unsaid := what == contract.HostClaim(projects.LocalHost) && !values.IsSet(projects.BankHostKey)
				all = append(all, claimed{contract.Claim{What: what}, step.Project, unsaid})
			}
		}
	}
	for _, step := range s.Plan.Steps {
		p := step.Project
		if p.Own == nil {
			continue
		}
		source, err := contract.ReadSource(p.Own.Dir, p.Directory())
		if err != nil {
			continue // programs has said so
		}
		for _, claim := range source.Claims(func(name string) (string, bool) { return valueIn(s, p, values, name) }) {
			if p.IsApplication() {
				claim.Place = contract.Place{File: config.MaraFile, Line: p.Own.Line}
			}
			all = append(all, claimed{Claim: claim, project: p})
		}
	}
	return all
}

// builtInClaims lists what a built-in project claims that others could claim as well.
func builtInClaims(provider model.Provider, p model.Project, values config.Values) (claims []string) {
	if p.Namespace != "" {
		claims = append(claims, contract.NamespaceClaim(p.Namespace))
	}
	switch p.Name {
	case projects.BankOfAnthos().Name:
		if host := projects.BankHost(provider.Infrastructure, values); host != "" {
			claims = append(claims, contract.HostClaim(host))
		}
	case projects.Guardrails().Name:
		for name := range values.Map(projects.GuardedNamespaces) {
			claims = append(claims, contract.NamespaceClaim(name))
		}
	case projects.IngressController().Name:
		if provider.Existing == nil || values.Text(projects.EntryKey) != projects.NodePorts {
			break
		}
		for _, key := range []string{projects.HTTPNodePort, projects.HTTPSNodePort} {
			claims = append(claims, contract.PortClaim(values.Text(key)))
		}
	}
	return claims
}

// sharing is what an environment makes in a cluster that is there already.
type sharing struct {
	kubeconfig, context string
	namespaces          []string
	problem             config.Problem // names file and line of the context
}

// sharingOf returns the cluster of an environment; its context is empty where another provider makes one.
func sharingOf(s *session.Resolved) (of sharing) {
	existing := s.Provider.Existing
	if existing == nil {
		return of
	}
	values := s.Provider.Values(s.Settings.Config)
	of.kubeconfig, of.context = values.Text(existing.Kubeconfig), values.Text(existing.Context)
	of.problem = s.Settings.Config.Problem(existing.Context, "")
	for _, step := range s.Plan.Steps {
		if name := step.Project.Namespace; name != "" && !slices.Contains(of.namespaces, name) {
			of.namespaces = append(of.namespaces, name)
		}
	}
	return of
}

// sameClusters doubts environments that would make namespaces in the cluster of an earlier one which that has as well: an up
// of the second one is refused there.
func sameClusters(all []environment) (found []Finding) {
	for i, one := range all {
		for _, other := range all[:i] {
			a, b := one.cluster, other.cluster
			if a.context == "" || a.context != b.context || a.kubeconfig != b.kubeconfig {
				continue
			}
			shared := slices.DeleteFunc(slices.Clone(a.namespaces), func(name string) bool { return !slices.Contains(b.namespaces, name) })
			if len(shared) == 0 {
				continue
			}
			problem := a.problem
			problem.Text = fmt.Sprintf("%s and %s are in the same cluster, as %s says, and both make the namespaces %s there: the second one is refused",
				one.Name, other.Name, problem.Key, typeset.Few(shared, 4))
			problem.Key = ""
			found = append(found, Finding{Problem: problem, Kind: Projects, Doubt: true, Environments: []string{one.Name}})
			break
		}
	}
	return found
}

// valueIn returns what a name in a program in YAML stands for in an environment.
func valueIn(s *session.Resolved, p model.Project, values config.Values, name string) (string, bool) {
	switch name {
	case "pulumi.stack":
		return s.Settings.Stack.Text, true
	case "pulumi.project":
		return p.Name, true
	}
	if strings.ContainsAny(name, ".[") {
		return "", false
	}
	text := values.Text(p.Name + ":" + name)
	return text, text != ""
}
