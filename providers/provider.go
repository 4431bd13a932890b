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
	"sync"

	"mara/config"
	"mara/config/lists"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/needs"
)

// Provider is a host of a cluster and a registry, with the projects that make
// up an environment on it.
type Provider struct {
	model.Infrastructure
	Steps          []Step   // in the order of a run
	Plugins        []Plugin // Pulumi plugins that its projects use
	BundledPlugins []string // shipped with the runner: Pulumi cannot download them
	Checks         []Check  // conditions to verify before an operation
	Questions      []Question
	Trial          Trial // of a cloud; empty if a trial is free
	Optional       Optional
	// Extends is the built-in provider that a user's provider is based on, and whose
	// name the programs know; "" for none.
	Extends string
	Hooks   []model.Hook // of the runs
}

// InfraType returns the provider's name as programs know it.
func (p Provider) InfraType() string {
	return cmp.Or(p.Extends, p.Name)
}

// Optional has the projects that a provider has only if mara.yaml names them.
type Optional struct {
	Steps   []Step            // in the order of a run
	Refused map[string]string // why the provider does not have an optional project, by its name
}

// Find returns the step of an optional project.
func (o Optional) Find(name string) (Step, bool) {
	return lists.Find(o.Steps, func(s Step) bool { return s.Project.Name == name })
}

// With returns the provider with optional projects, which come before the application. It skips needs that the
// provider lacks, and names of other projects.
func (p Provider) With(names ...string) Provider {
	application := projects.BankOfAnthos().Name
	for _, step := range p.Optional.Steps {
		if !slices.Contains(names, step.Project.Name) || slices.Contains(p.Names(), step.Project.Name) {
			continue
		}
		at := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Project.Name == application })
		if at < 0 {
			at = len(p.Steps)
		}
		known := p.Names()
		step.After = only(known, step.After)
		p.Steps = slices.Insert(slices.Clone(p.Steps), at, step)
	}
	return p
}

// Complete returns the provider with all its optional projects.
func (p Provider) Complete() Provider {
	return p.With(lists.Map(p.Optional.Steps, Step.Name)...)
}

// Without returns the names of projects with secrets that its cluster could have, but its list
// omits.
func (p Provider) Without() []string {
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Project.Name == projects.SecretsProject }) {
		return nil
	}
	var names []string
	for _, project := range projects.WithSecrets(p.InfraType()) {
		if !slices.ContainsFunc(p.Steps, func(s Step) bool {
			return s.Project.Name == project.Name && s.Project.Own == nil
		}) {
			names = append(names, project.Name)
		}
	}
	return names
}

// Step is one project of an environment with the projects it needs, by name.
type Step struct {
	Project model.Project
	Phase   string // of the plan; "" derives it from the step's position
	When    string // jq: up and preview skip a built-in project for which it is not true; "" for always
	needs.Needs
}

// Name returns the name of the project.
func (s Step) Name() string { return s.Project.Name }

// Plugin is a Pulumi resource plugin with the projects whose programs use it.
type Plugin struct {
	Name     string
	Projects []string
}

// Names returns the names of its projects, skipped ones included.
func (p Provider) Names() []string {
	return append([]string{}, lists.Map(p.Steps, Step.Name)...)
}

// Projects returns its projects, skipped ones included.
func (p Provider) Projects() []model.Project {
	return lists.Map(p.Steps, func(s Step) model.Project { return s.Project })
}

// Own returns the user's own projects, skipped ones included.
func (p Provider) Own() []model.Project {
	return slices.DeleteFunc(p.Projects(), func(project model.Project) bool { return project.Own == nil })
}

// PluginsFor returns the names of the plugins that some of the projects use, in order.
func (p Provider) PluginsFor(projects []string) []string {
	var names []string
	for _, plugin := range p.Plugins {
		if overlap(plugin.Projects, projects) {
			names = append(names, plugin.Name)
		}
	}
	return names
}

// overlap reports whether two lists have an element in common.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// layouts are the providers, in the order in which they are shown, made once: each command of the runner names
// them.
var layouts = sync.OnceValue(func() []layout {
	return []layout{aws(), digitalocean(), linode(), kind(), cluster()}
})

// All returns the providers.
func All() []Provider {
	return lists.Map(layouts(), layout.provider)
}

// Complete returns the providers with all their optional projects.
func Complete() []Provider {
	return lists.Map(All(), Provider.Complete)
}

// Names lists the names of the providers.
func Names() []string {
	return lists.Map(layouts(), func(l layout) string { return l.Name })
}

// ByName finds a provider. The error for an unknown name lists the known ones.
func ByName(name string) (Provider, error) {
	for _, l := range layouts() {
		if l.Name == name {
			return l.provider(), nil
		}
	}
	hint := config.DidYouMean(name, Names())
	return Provider{}, fmt.Errorf("unknown provider %q; known: %s%s", name, strings.Join(Names(), ", "), hint)
}

// Keys returns the configuration keys of all projects of the catalogue, each once.
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
