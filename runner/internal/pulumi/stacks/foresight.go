package stacks

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/projects/model/operation"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/pulumi/pulumicli"
	"mara/runner/internal/pulumi/pulumicli/wire"
)

// Foreseer is a command whose previews read the outputs that earlier previews have
// found, as those of mara-engine do and those of an installed Pulumi do not.
type Foreseer interface {
	WithForesight(*pulumicli.Foresight) Command
}

// PreviewedOutput is an output of a stack as a preview has found it.
type PreviewedOutput struct {
	Name string
	// Before is the value in the stack's state, After the value after an up. They are
	// JSON values and nil where there is none. What is secret in them reads Secret,
	// what is not known yet updateplan.Unknown.
	Before, After any
	Unknown       bool // the value after an up or a part of it is not known yet
	Secret        bool // the value or a part of it is secret
	Change        OutputChange
}

// OutputChange says how an up would change an output.
type OutputChange string

// The changes of an output. An installed Pulumi does not tell whether a secret
// output changes: it is OutputUnsure then.
const (
	OutputSame    OutputChange = "same"
	OutputChanged OutputChange = "changed"
	OutputAdded   OutputChange = "added"
	OutputRemoved OutputChange = "removed"
	OutputUnsure  OutputChange = "unsure"
)

// PreviewedOutputs returns the outputs of a project's stack by name, as the last
// preview of this Set has found them, including outputs that the stack would lose.
// ok is false if the project has not been previewed since it was last deployed, if
// its preview has failed, or if its program has not come to its outputs.
//
// The names are exact: a program that reads a missing output or an OutputRemoved
// gets nothing after an up. The engine compares the values of secret outputs in
// the clear; the values are not handed out.
func (e *Set) PreviewedOutputs(project string) (outputs []PreviewedOutput, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	seen, ok := e.seen[project]
	return slices.Clone(seen.outputs), ok && seen.registered
}

// ReadsOf returns the projects of the environment whose stacks the program of a
// project has read in the last preview of this Set, sorted. They are taken from the
// program's requests. known is false for an installed Pulumi, and where
// PreviewedOutputs knows nothing either. Which outputs of a stack a program uses is
// not part of a request.
func (e *Set) ReadsOf(project string) (projects []string, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	seen, ok := e.seen[project]
	return slices.Clone(seen.reads), ok && seen.foreseen
}

// seen is what the preview of a project has found.
type seen struct {
	outputs    []PreviewedOutput
	registered bool        // the program has registered outputs
	reads      []string    // projects
	foreseen   bool        // the engine has reported outputs and reads
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
	now := seen{outputs: w.engine.previewedOutputs(found), registered: w.engine.outputs != nil}
	if found != nil {
		now.foreseen, now.values = true, found.Values
		now.reads = w.projectsOf(found.Reads)
	}
	if now.values != nil {
		now.uncertain = slices.ContainsFunc(now.outputs, func(o PreviewedOutput) bool { return o.Unknown })
	} else {
		now.uncertain = !w.IsDeployed(w.project) || len(unknown) > 0 || w.engine.changesOutputs(false)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[w.project] = now
}

// projectsOf returns the projects of the environment among full names of stacks.
func (w work) projectsOf(names []string) []string {
	var projects []string
	for _, name := range names {
		if project, ours := w.projectOf(name); ours {
			projects = append(projects, project)
		}
	}
	slices.Sort(projects)
	return projects
}

// previewedOutputs describes the outputs of the stack: their values by the events,
// and the rest by what the engine has found, if it has.
func (e *engineEvents) previewedOutputs(found *wire.Found) []PreviewedOutput {
	if e.outputs == nil {
		return nil
	}
	known := map[string]wire.Output{}
	if found != nil {
		for _, output := range found.Outputs {
			known[output.Name] = output
		}
	}
	names := slices.Concat(slices.Collect(maps.Keys(e.outputs.before)), slices.Collect(maps.Keys(e.outputs.after)))
	slices.Sort(names)
	var outputs []PreviewedOutput
	for _, name := range slices.Compact(names) {
		output := e.outputs.describe(name)
		if exact, ok := known[name]; ok {
			output.Unknown, output.Secret = exact.Unknown, output.Secret || exact.Secret
			output.Change = cmp.Or(OutputChange(exact.Change), OutputSame)
		}
		outputs = append(outputs, output)
	}
	return outputs
}

// describe compares an output before and after by what the events say.
func (s stackOutputs) describe(name string) PreviewedOutput {
	before, was := s.before[name]
	after, is := s.after[name]
	var old, current marks
	output := PreviewedOutput{Name: name, Before: old.legible(before), After: current.legible(after), Change: OutputSame}
	output.Unknown, output.Secret = current.unknown, old.secret || current.secret
	switch {
	case !was:
		output.Change = OutputAdded
	case !is:
		output.Change = OutputRemoved
	case !reflect.DeepEqual(before, after):
		output.Change = OutputChanged
	case output.Secret:
		output.Change = OutputUnsure
	}
	return output
}

// marks say what stands for values in the outputs of an event.
type marks struct{ unknown, secret bool }

// legible copies a value of an event, with Secret for what is secret and
// updateplan.Unknown for what is not known yet.
func (m *marks) legible(value any) any {
	switch value := value.(type) {
	case string:
		if value == plugin.UnknownStringValue {
			m.unknown = true
			return updateplan.Unknown
		}
	case map[string]any:
		if value[sig.Key] == sig.Secret {
			m.secret = true
			return Secret
		}
		copied := make(map[string]any, len(value))
		for name, element := range value {
			copied[name] = m.legible(element)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, element := range value {
			copied[i] = m.legible(element)
		}
		return copied
	}
	return value
}
