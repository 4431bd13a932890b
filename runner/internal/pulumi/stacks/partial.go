package stacks

import (
	"maps"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/runner/internal/pulumi/pulumicli/wire"
)

// The preview of a project is partial if the project reads outputs that are not
// known yet. Where the engine hands the outputs of a preview on, they are those
// with unknown values. Elsewhere they are those of a project that is not deployed,
// that would change, or whose own preview is partial, so that the label travels.

// unknownNeeds returns the projects that the step reads and whose outputs are not
// known yet, according to the earlier previews of this run. found names more of
// them where the program reads what the plan does not declare.
func (w work) unknownNeeds(found *wire.Found) []string {
	reads := slices.Clone(w.Step.Reads)
	if found != nil {
		for _, project := range w.projectsOf(found.Reads) {
			if !slices.Contains(reads, project) && !slices.Contains(w.Step.Outside, project) {
				reads = append(reads, project)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var unknown []string
	for _, project := range reads {
		seen, previewed := w.seen[project]
		if previewed && seen.uncertain || !previewed && w.summaries[project].Resources == 0 {
			unknown = append(unknown, project)
		}
	}
	for _, project := range w.Step.Outside {
		if w.summaries[project].Resources == 0 {
			unknown = append(unknown, project)
		}
	}
	return unknown
}

// stackOutputs are the outputs of a stack before and after a step.
type stackOutputs struct{ before, after map[string]any }

func isSecret(value any) bool {
	object, ok := value.(map[string]any)
	return ok && object[sig.Key] != nil
}

// changesOutputs reports whether outputs of the stack differ after the operation.
// The events do not show secret ones: they count as changed if any resource has.
func (e *engineEvents) changesOutputs() bool {
	if e.outputs == nil {
		return false
	}
	same := func(a, b any) bool { return reflect.DeepEqual(a, b) }
	return !maps.EqualFunc(e.outputs.before, e.outputs.after, same) ||
		e.result().Any() && slices.ContainsFunc(slices.Collect(maps.Values(e.outputs.after)), isSecret)
}

// noteOutputs keeps the outputs of the stack itself.
func (e *engineEvents) noteOutputs(step apitype.StepEventMetadata) {
	if step.Type != stackType || step.New == nil {
		return
	}
	e.outputs = &stackOutputs{after: step.New.Outputs}
	if step.Old != nil {
		e.outputs.before = step.Old.Outputs
	}
}
