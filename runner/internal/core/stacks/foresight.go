package stacks

import (
	"maps"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/pulumicli"
	"mara/runner/internal/core/pulumicli/wire"
)

// Foreseer is a command whose previews read the outputs that earlier previews have
// found, as those of mara-engine do and those of an installed Pulumi do not.
type Foreseer interface {
	WithForesight(*pulumicli.Foresight) Command
}

// previewedOutputs returns the outputs of a project's stack by name, as the last
// preview of this Set has found them, including outputs that the stack would lose.
// ok is false if the project has not been previewed since it was last deployed, if
// its preview has failed, or if its program has not come to its outputs.
//
// The names are exact: a program that reads a missing output or a removed one gets
// nothing after an up. The engine compares the values of secret outputs in the clear.
// An installed Pulumi does not: there a secret output counts as the same.
func (e *Set) previewedOutputs(project string) (outputs []wire.Output, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	seen, ok := e.seen[project]
	return seen.outputs, ok && seen.registered
}

// ReadsOf returns the projects of the environment whose stacks the program of a
// project has read in the last preview of this Set, sorted. They are taken from the
// program's requests; an installed Pulumi does not report them. Which outputs of a
// stack a program uses is not part of a request.
func (e *Set) ReadsOf(project string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.seen[project].reads)
}

// seen is what the preview of a project has found.
type seen struct {
	outputs    []wire.Output
	registered bool        // the program has registered outputs
	reads      []string    // projects
	values     wire.Values // of the outputs; nil if the program has not registered any
	uncertain  bool        // projects that read the outputs can only be previewed in part
}

// command returns the command that does the operation, and for a preview what the
// command is given and what it will find.
func (w work) command() (Command, *pulumicli.Foresight) {
	given := &pulumicli.Foresight{Foreseen: map[string]wire.Values{}}
	able, ok := w.options.Command.(Foreseer)
	if !ok || w.Operation != operation.Preview {
		return w.options.Command, given
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for project, seen := range w.seen {
		if seen.values != nil {
			given.Foreseen[w.qualified(project)] = seen.values
		}
	}
	return able.WithForesight(given), given
}

// forgetPreview drops what an earlier preview of the project has found: the project
// is about to be previewed again, or to change. A preview that fails leaves nothing
// to go by, so that readers of the project are previewed in part.
func (w work) forgetPreview() {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.seen, w.project)
	if w.Operation == operation.Preview {
		w.seen[w.project] = seen{uncertain: true}
	}
}

// keepForesight keeps what the preview of the project has found. unknown are the
// projects whose outputs it has read although they are not known.
func (w work) keepForesight(found *wire.Found, unknown []string) {
	now := seen{
		outputs: w.engine.previewedOutputs(found.Outputs), registered: w.engine.outputs != nil,
		values: found.Values, reads: w.projectsOf(found.Reads),
	}
	if now.values != nil {
		now.uncertain = slices.ContainsFunc(now.outputs, func(o wire.Output) bool { return o.Unknown })
	} else {
		now.uncertain = !w.IsDeployed(w.project) || len(unknown) > 0 || w.engine.changesOutputs()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[w.project] = now
}

// projectsOf returns the projects of the environment among full names of stacks.
func (w work) projectsOf(names []string) []string {
	var projects []string
	for _, name := range names {
		if project, ours := w.ProjectOf(name); ours {
			projects = append(projects, project)
		}
	}
	slices.Sort(projects)
	return projects
}

// previewedOutputs describes the outputs of the stack: by what the engine has found of
// each, if it has, else by the events.
func (e *engineEvents) previewedOutputs(found []wire.Output) []wire.Output {
	if e.outputs == nil {
		return nil
	}
	var outputs []wire.Output
	for _, name := range lists.Keys(e.outputs.before, e.outputs.after) {
		output := e.outputs.describe(name)
		if exact, ok := lists.Find(found, func(o wire.Output) bool { return o.Name == name }); ok {
			output.Unknown, output.Change = exact.Unknown, exact.Change
			output.Secret = output.Secret || exact.Secret
		}
		outputs = append(outputs, output)
	}
	return outputs
}

// describe compares an output before and after by what the events say.
func (s stackOutputs) describe(name string) wire.Output {
	before, was := s.before[name]
	after, is := s.after[name]
	_, wasSecret := marksOf(before)
	unknown, isSecret := marksOf(after)
	output := wire.Output{Name: name, Unknown: unknown, Secret: wasSecret || isSecret}
	switch {
	case !was:
		output.Change = wire.Added
	case !is:
		output.Change = wire.Removed
	case !reflect.DeepEqual(before, after):
		output.Change = wire.Changed
	}
	return output
}

// marksOf reports whether a value of an event, or a part of it, is not known yet or secret.
func marksOf(value any) (unknown, secret bool) {
	var parts []any
	switch value := value.(type) {
	case string:
		return value == plugin.UnknownStringValue, false
	case map[string]any:
		if value[sig.Key] == sig.Secret {
			return false, true
		}
		parts = slices.Collect(maps.Values(value))
	case []any:
		parts = value
	}
	for _, part := range parts {
		partUnknown, partSecret := marksOf(part)
		unknown, secret = unknown || partUnknown, secret || partSecret
	}
	return unknown, secret
}
