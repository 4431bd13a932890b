package stacks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/updateplan"
)

// Secret stands for a secret value, as it does for Pulumi.
const Secret = "[secret]"

// Outputs reads the outputs of a project's stack. Unless secrets are asked for,
// secret values read "[secret]". A stack that does not exist has none.
func (e *Set) Outputs(ctx context.Context, project string, secrets bool) (map[string]any, error) {
	if !e.Summary(project).Exists {
		return nil, nil
	}
	if reported, ok := e.ReportedOutputs(project); ok && !secrets {
		return reported, nil
	}
	args := []string{"stack", "output", "--json"}
	if secrets {
		args = append(args, "--show-secrets")
	}
	output, err := e.runOn(ctx, project, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the outputs of %s: %w", project, err)
	}
	var outputs map[string]any
	if err := json.Unmarshal([]byte(output), &outputs); err != nil {
		return nil, fmt.Errorf("reading the outputs of %s: pulumi answered with something else than JSON", project)
	}
	return outputs, nil
}

// ReportedOutputs returns the outputs that an up of this run has reported, without asking
// Pulumi. A secret value reads Secret.
func (e *Set) ReportedOutputs(project string) (map[string]any, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	outputs, ok := e.outputs[project]
	return maps.Clone(outputs), ok
}

// storeReported stores the outputs that an up has reported, and drops them after any
// other operation.
func (w work) storeReported() {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.outputs, w.project)
	if !w.Operation.Deploys() || w.engine.outputs == nil {
		return
	}
	reported := map[string]any{}
	for name, value := range w.engine.outputs.after {
		if isSecret(value) {
			value = Secret
		}
		reported[name] = value
	}
	w.outputs[w.project] = reported
}

// reportOutputs emits and returns the outputs of the stack that an up or a preview
// changes. secrets reports which of the secret ones do, as their values are hidden.
func (w work) reportOutputs(secrets func(name string) bool) []event.OutputChange {
	if !w.Operation.RunsPrograms() || w.engine.outputs == nil {
		return nil
	}
	changes := updateplan.OutputChanges(w.engine.outputs.before, w.engine.outputs.after, secrets, w.options.Masker.Mask)
	if len(changes) > 0 {
		w.emit(event.Event{Type: event.StepOutputs, Outputs: changes})
	}
	return changes
}

// changedSecrets returns a function that reports whether a secret output of the project
// differs, by what the last preview has found inside the engine, or by Task.Secrets.
func (w work) changedSecrets() func(name string) bool {
	outputs, _ := w.previewedOutputs(w.project)
	return func(name string) bool {
		previewed := slices.ContainsFunc(outputs, func(o wire.Output) bool {
			return o.Name == name && o.Secret && o.Change == wire.Changed
		})
		return previewed || w.Secrets != nil && w.Secrets(name)
	}
}

// Update is an operation in Pulumi's history of a stack.
type Update struct {
	Operation operation.Operation // Pulumi has others, too
	Result    string              // succeeded, failed, in-progress
	Start     time.Time
	End       time.Time
}

// LastUpdate reads the last operation on a project's stack; ok is false if there
// is none, as after an import.
func (e *Set) LastUpdate(ctx context.Context, project string) (update Update, ok bool, err error) {
	if err := e.Reach(project); err != nil || !e.Summary(project).Exists {
		return Update{}, false, err
	}
	if e.options.Service != nil {
		return AtService{e}.lastUpdate(ctx, project)
	}
	output, err := e.runOn(ctx, project, "stack", "history", "--json", "--page-size", "1", "--page", "1")
	if err != nil {
		return Update{}, false, fmt.Errorf("reading the history of %s: %w", project, err)
	}
	var history []struct {
		Kind      string    `json:"kind"`
		Result    string    `json:"result"`
		StartTime time.Time `json:"startTime"`
		EndTime   time.Time `json:"endTime"`
	}
	if err := json.Unmarshal([]byte(output), &history); err != nil {
		return Update{}, false, fmt.Errorf("reading the history of %s: pulumi answered with something else than JSON: %w",
			project, err)
	}
	if len(history) == 0 {
		return Update{}, false, nil
	}
	last := history[0]
	return Update{Operation: operationOf(last.Kind), Result: last.Result, Start: last.StartTime, End: last.EndTime}, true, nil
}

// The preview of a project is partial if the project reads outputs that are not
// known yet. Where the engine hands the outputs of a preview on, they are those
// with unknown values. Elsewhere they are those of a project that is not deployed,
// that would change, or whose own preview is partial, so that the label travels.

// unknownNeeds returns the projects that the step reads and whose outputs are not
// known yet, according to the earlier previews of this run. found names more of
// them where the program reads what the plan does not declare.
func (w work) unknownNeeds(found *wire.Found) []string {
	reads := slices.Clone(w.Step.Reads)
	for _, project := range w.projectsOf(found.Reads) {
		if !slices.Contains(reads, project) && !slices.Contains(w.Step.Outside, project) {
			reads = append(reads, project)
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
