package stacks

import (
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
)

// The preview of a project is partial if the project reads outputs that are not
// known yet: those of a project that does not exist, or that the same run would
// change. The engine treats missing outputs as unknown.

// unknownNeeds are the projects that the step reads and whose outputs are not known
// yet, according to the earlier previews of this run.
func (w work) unknownNeeds() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var unknown []string
	for _, project := range w.Step.Reads {
		if w.summaries[project].Resources == 0 || w.changing[project] {
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

// expect keeps whether the project's outputs will change.
func (w work) expect(changing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changing[w.project] = changing
}

// stackOutputs are the outputs of a stack before and after a step.
type stackOutputs struct{ before, after map[string]any }

func isSecret(value any) bool {
	object, ok := value.(map[string]any)
	return ok && object[sig.Key] != nil
}

// changesOutputs reports whether outputs of the stack differ after the operation.
// The engine does not show secret ones: they count as changed if any resource
// has, or if the preview is partial.
func (e *engineEvents) changesOutputs(partial bool) bool {
	if e.outputs == nil {
		return false
	}
	for name, after := range e.outputs.after {
		before, known := e.outputs.before[name]
		if !known || !reflect.DeepEqual(before, after) {
			return true
		}
		if isSecret(after) && (partial || e.result().Any()) {
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
