package catalogue

import (
	"bytes"
	"fmt"
	"maps"
	"time"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/operation"
)

// described is a provider in mara.yaml.
type described struct {
	Title    string          `yaml:"title,omitempty"`
	Extends  string          `yaml:"extends,omitempty"`
	Projects []describedStep `yaml:"projects"`
}

// describedStep is a project in mara.yaml: one of the catalogue by its name, or an own one.
type describedStep struct {
	Project   string         `yaml:"project,omitempty"`
	Git       string         `yaml:"git,omitempty"`
	Ref       string         `yaml:"ref,omitempty"`
	Path      string         `yaml:"path,omitempty"`
	Title     string         `yaml:"title,omitempty"`
	Phase     string         `yaml:"phase,omitempty"`
	Reads     []string       `yaml:"reads,omitempty,flow"`
	After     []string       `yaml:"after,omitempty,flow"`
	When      string         `yaml:"when,omitempty"`
	Stack     string         `yaml:"stack,omitempty"`
	StackFile string         `yaml:"stackFile,omitempty"`
	Outputs   []string       `yaml:"outputs,omitempty,flow"`
	Inputs    []string       `yaml:"inputs,omitempty,flow"`
	Env       map[string]any `yaml:"env,omitempty"`
	Retry     *int           `yaml:"retry,omitempty"`
	Timeout   time.Duration  `yaml:"timeout,omitempty"`
	Estimate  time.Duration  `yaml:"estimate,omitempty"`
	Hooks     []any          `yaml:"hooks,omitempty"` // names of built-in hooks, or describedHook
}

// describedHook is a hook in mara.yaml that runs a command.
type describedHook struct {
	Name       string                `yaml:"name,omitempty"`
	On         model.Moment          `yaml:"on,omitempty"`
	Operations []operation.Operation `yaml:"operations,omitempty,flow"`
	Run        []string              `yaml:"run,omitempty,flow"`
	Timeout    time.Duration         `yaml:"timeout,omitempty"`
	Retry      int                   `yaml:"retry,omitempty"`
	Simulate   bool                  `yaml:"simulate,omitempty"`
}

// describeVariable returns the value of an environment variable, or its values by environment.
func describeVariable(v config.MaraVariable) any {
	if len(v.Of) == 0 && v.Default != nil {
		return *v.Default
	}
	values := map[string]string{}
	maps.Copy(values, v.Of)
	if v.Default != nil {
		values["default"] = *v.Default
	}
	return values
}

// Describe returns a mara.yaml with a provider that has the same plan. It includes the settings
// of own projects from mara.yaml.
func Describe(builtIn *model.Catalogue, p model.Provider) (string, error) {
	isBuiltIn := func(name string) bool {
		_, err := builtIn.Provider(name)
		return err == nil
	}
	d := described{Title: p.Title}
	if base := p.InfraType(); isBuiltIn(base) {
		d.Extends = base
	}
	name := p.Name
	if isBuiltIn(name) {
		name = "my-" + name
	}
	for _, step := range p.Steps {
		d.Projects = append(d.Projects, describeStep(step))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The plan of %s, as a provider of your own. Change the list, add projects with path: DIR,\n"+
		"# or leave the list out: then the provider has the projects of the one that it extends.\n", p.Name)
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	err := encoder.Encode(map[string]map[string]described{"providers": {name: d}})
	return b.String(), err
}

func describeStep(step model.Step) describedStep {
	p, d := step.Project, describedStep{Phase: step.Phase, Reads: step.Reads, After: step.After}
	if p.Own == nil {
		d.Project = p.Name
		return d
	}
	d.Git, d.Ref, d.Path, d.Title = p.Own.Git, p.Own.Ref, p.Own.Path, p.Title
	d.When, d.Stack, d.Timeout, d.Estimate = p.Own.When, p.Own.Stack, p.Own.Timeout, p.Estimate
	d.Inputs, d.Retry = p.Own.Inputs, p.Own.Retry
	for _, v := range p.Own.Env {
		if d.Env == nil {
			d.Env = map[string]any{}
		}
		d.Env[v.Name.Text] = describeVariable(v)
	}
	if p.Own.StackFiles != "" {
		d.StackFile = config.OwnStackFile
	}
	d.Outputs = lists.Map(p.Outputs, func(output model.Output) string { return output.Name })
	for _, hook := range p.Hooks {
		if hook.Command == nil {
			d.Hooks = append(d.Hooks, hook.Name)
			continue
		}
		d.Hooks = append(d.Hooks, describedHook{
			Name: hook.Name, On: hook.On, Operations: hook.Operations, Run: hook.Command,
			Timeout: hook.Timeout, Retry: hook.Retry, Simulate: hook.Simulate,
		})
	}
	return d
}
