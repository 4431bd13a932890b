package model

import (
	"cmp"
	"slices"

	"mara/config/lists"
	"mara/projects/model/needs"
)

// OwnProvider is the name of the provider of a mara.yaml that lists projects but no providers.
const OwnProvider = "own"

// Place names an environment for people: provider and stack. Projects of a user's own have no provider that they know of.
func Place(provider, stack string) string {
	if provider == OwnProvider {
		return stack
	}
	return provider + "/" + stack
}

// Where names an environment in a sentence: "kind, stack dev".
func Where(provider, stack string) string {
	if provider == OwnProvider {
		return "stack " + stack
	}
	return provider + ", stack " + stack
}

// Provider is a host of a cluster and a registry, with the projects that make
// up an environment on it.
type Provider struct {
	Infrastructure
	Steps          []Step   // in the order of a run
	Plugins        []Plugin // Pulumi plugins that its projects use
	BundledPlugins []string // shipped with the runner: Pulumi cannot download them
	Checks         []Check  // conditions to verify before an operation
	Questions      []Question
	Trial          Trial // of a cloud; empty if a trial is free
	Optional       Optional
	Last           string   // project that the optional ones come before; "" for none
	WithSecrets    []string // projects that its cluster could have and that need secrets in it
	// Extends is the built-in provider that a user's provider is based on, and whose
	// name the programs know; "" for none.
	Extends string
	Hooks   []Hook // of the runs
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
	for _, step := range p.Optional.Steps {
		if !slices.Contains(names, step.Project.Name) || slices.Contains(p.Names(), step.Project.Name) {
			continue
		}
		at := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Project.Name == p.Last })
		if at < 0 {
			at = len(p.Steps)
		}
		known := p.Names()
		isUnknown := func(name string) bool { return !slices.Contains(known, name) }
		step.After = slices.DeleteFunc(slices.Clone(step.After), isUnknown)
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
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Project.Name == SecretsProject }) {
		return nil
	}
	var names []string
	for _, name := range p.WithSecrets {
		if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Project.Name == name && s.Project.Own == nil }) {
			names = append(names, name)
		}
	}
	return names
}

// Step is one project of an environment with the projects it needs, by name.
type Step struct {
	Project Project
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
func (p Provider) Projects() []Project {
	return lists.Map(p.Steps, func(s Step) Project { return s.Project })
}

// Own returns the user's own projects, skipped ones included.
func (p Provider) Own() []Project {
	return slices.DeleteFunc(p.Projects(), func(project Project) bool { return project.Own == nil })
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
