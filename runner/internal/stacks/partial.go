package stacks

import (
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/runner/internal/plan"
)

// In a preview of a whole environment a project may read outputs that are not
// what they will be: those of a project that does not exist yet, or that the
// same run would change. Its preview is partial then. Nothing is invented: the
// engine treats what is missing as unknown.

// unknownNeeds are the projects that a step reads and whose outputs are not
// known yet, as far as the earlier previews of this run tell.
func (e *Environment) unknownNeeds(step plan.Step) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var unknown []string
	for _, project := range step.Reads {
		if e.summaries[project].Resources == 0 || e.changing[project] {
			unknown = append(unknown, project)
		}
	}
	for _, project := range step.Outside {
		if e.summaries[project].Resources == 0 {
			unknown = append(unknown, project)
		}
	}
	return unknown
}

// expect notes whether a project's outputs will change.
func (e *Environment) expect(project string, changing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changing[project] = changing
}

// stackOutputs are the outputs of a stack before and after a step, as the
// engine tells them.
type stackOutputs struct{ before, after map[string]any }

func isSecret(value any) bool {
	object, ok := value.(map[string]any)
	return ok && object[sig.Key] != nil
}

// changesOutputs reports whether outputs of the stack differ after the
// operation. Of secret ones the engine does not tell; they count as changed if
// anything does, or if what they are made of is not known.
func (e *engineEvents) changesOutputs(partial bool) bool {
	if e.outputs == nil {
		return false
	}
	for name, after := range e.outputs.after {
		before, known := e.outputs.before[name]
		if !known || !reflect.DeepEqual(before, after) {
			return true
		}
		if isSecret(after) && (partial || e.changes.Any()) {
			return true
		}
	}
	return len(e.outputs.before) != len(e.outputs.after)
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
