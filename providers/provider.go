// Package providers holds what differs between the hosts of a Kubernetes
// cluster and a container registry, as data: which projects make up an
// environment, in which order, and what each of them waits for.
//
// A provider is a layout: its own projects first, then the list that all
// providers share, with further projects of its own put in between.
package providers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/config"
	"mara/projects"
	"mara/providers/needs"
)

// Provider is a host of a cluster and a registry, with the projects that make
// up an environment on it.
type Provider struct {
	projects.Infrastructure
	Steps          []Step   // in the order of a run
	Plugins        []Plugin // of Pulumi's, that its projects use
	BundledPlugins []string // come with the runner: Pulumi cannot download them
	Checks         []Check  // what has to be right before an operation
	Questions      []Question
	Relations      []Relation // between values of the configuration
	Trial          Trial      // of a cloud; empty where trying costs nothing
	// Extends is the built-in provider that one of the user's own is based on, and
	// whose name the programs know; "" for none.
	Extends string
	Hooks   []projects.Hook // of the runs
}

// InfraType is the provider's name as programs know it.
func (p Provider) InfraType() string {
	return cmp.Or(p.Extends, p.Name)
}

// Without names the projects with secrets that its cluster could have, but that
// the list leaves out.
func (p Provider) Without() []string {
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Project.Name == projects.SecretsProject }) {
		return nil
	}
	var names []string
	for _, project := range projects.All() {
		listed := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Project.Name == project.Name && s.Project.Own == nil })
		if len(project.Secrets) > 0 && project.Serves(p.InfraType()) && !listed {
			names = append(names, project.Name)
		}
	}
	return names
}

// Step is one project of an environment and what it waits for, by the names of
// Pulumi projects.
type Step struct {
	Project projects.Project
	Phase   string // of the plan; "" leaves it to the step's place
	needs.Needs
}

// Plugin is a resource plugin of Pulumi's, and the projects whose programs use it.
type Plugin struct {
	Name     string
	Projects []string
}

// Names are the names of its projects, also of those that are left out.
func (p Provider) Names() []string {
	return append([]string{}, slice.Map(p.Steps, func(step Step) string { return step.Project.Name })...)
}

// Projects are its projects, also those that are left out.
func (p Provider) Projects() []projects.Project {
	return slice.Map(p.Steps, func(step Step) projects.Project { return step.Project })
}

// Own are those of its projects that are the user's own, also those that are left
// out.
func (p Provider) Own() []projects.Project {
	return slices.DeleteFunc(p.Projects(), func(project projects.Project) bool { return project.Own == nil })
}

// PluginsFor names the plugins that some of the projects use, in order.
func (p Provider) PluginsFor(projects []string) []string {
	used := slices.DeleteFunc(slices.Clone(p.Plugins), func(plugin Plugin) bool { return !overlap(plugin.Projects, projects) })
	return slice.Map(used, func(plugin Plugin) string { return plugin.Name })
}

// overlap reports whether two lists have something in common.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// layouts lists the providers, in the order in which they are shown.
func layouts() []layout { return []layout{aws(), digitalocean(), linode(), kind()} }

// All lists the providers.
func All() []Provider {
	return slice.Map(layouts(), layout.provider)
}

// Names lists the names of the providers.
func Names() []string {
	return slice.Map(layouts(), func(l layout) string { return l.Name })
}

// ByName finds a provider. The error for an unknown name lists the known ones.
func ByName(name string) (Provider, error) {
	for _, l := range layouts() {
		if l.Name == name {
			return l.provider(), nil
		}
	}
	return Provider{}, fmt.Errorf("unknown provider %q; known: %s%s", name, strings.Join(Names(), ", "), config.DidYouMean(name, Names()))
}

// Keys lists the configuration keys of all projects there are, each once.
func Keys() []config.Key {
	var keys []config.Key
	seen := map[string]bool{}
	for _, project := range projects.All() {
		for _, key := range project.Keys {
			if !seen[key.Name] {
				keys = append(keys, key)
			}
			seen[key.Name] = true
		}
	}
	return keys
}
