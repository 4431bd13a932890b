package stacks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

// ofStack returns the event with the outputs of a stack before and after.
func ofStack(before, after map[string]any) apitype.EngineEvent {
	step := metadata(apitype.OpSame, stackType, "vpc-dev")
	step.New = &apitype.StepEventStateMetadata{Outputs: after}
	if before != nil {
		step.Old = &apitype.StepEventStateMetadata{Outputs: before}
	}
	return apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: step}}
}

func secret() any { return map[string]any{sig.Key: sig.Secret, "ciphertext": "[secret]"} }

func TestChangesOutputs(t *testing.T) {
	t.Parallel()
	type outputs = map[string]any
	for _, test := range []struct {
		name          string
		before, after outputs
		changes       event.Changes
		want          bool
	}{
		{"the same", outputs{"a": 1.0, "b": outputs{"c": "d"}}, outputs{"a": 1.0, "b": outputs{"c": "d"}}, event.Changes{Update: 1}, false},
		{"another value", outputs{"a": 1.0}, outputs{"a": 2.0}, event.Changes{}, true},
		{"one more", outputs{"a": 1.0}, outputs{"a": 1.0, "b": 1.0}, event.Changes{}, true},
		{"one less", outputs{"a": 1.0, "b": 1.0}, outputs{"a": 1.0}, event.Changes{}, true},
		{"new", nil, outputs{"a": 1.0}, event.Changes{Create: 1}, true},
		{"secret, and nothing changes", outputs{"s": secret()}, outputs{"s": secret()}, event.Changes{Same: 3}, false},
		{"secret, and something changes", outputs{"s": secret()}, outputs{"s": secret()}, event.Changes{Update: 1}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEngineEvents(func(event.Event) {}, make(chan struct{}))
			e.channel <- events.EngineEvent{EngineEvent: ofStack(test.before, test.after)}
			close(e.channel)
			e.wait()
			e.summary = &test.changes
			if got := e.changesOutputs(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestPartialPreviews previews three projects, each of which reads the one before,
// with an engine that hands no outputs on: what the first changes may change all.
func TestPartialPreviews(t *testing.T) {
	t.Parallel()
	outputs := map[string]any{"id": "1"}
	e := open(t, []string{"vpc", "eks", "kubeconfig"},
		call{args: "preview", events: []apitype.EngineEvent{ofStack(outputs, map[string]any{"id": "2"}), summed(map[apitype.OpType]int{apitype.OpReplace: 1})}},
		call{args: "preview", events: []apitype.EngineEvent{readStack("organization/vpc/dev"), ofStack(outputs, outputs), summed(nil)}},
		call{args: "preview", events: []apitype.EngineEvent{readStack("organization/eks/dev"), ofStack(outputs, outputs), summed(nil)}},
	)
	var unknown [][]string
	for _, s := range []struct{ name, reads string }{{"vpc", ""}, {"eks", "vpc"}, {"kubeconfig", "eks"}} {
		one := step(s.name)
		if s.reads != "" {
			one.Reads = []string{s.reads}
		}
		outcome, err := e.Operate(t.Context(), Task{Operation: operation.Preview, Step: one}, func(event.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		unknown = append(unknown, outcome.Unknown)
	}
	if diff := cmp.Diff([][]string{nil, {"vpc"}, {"eks"}}, unknown); diff != "" {
		t.Error(diff)
	}
}

// TestOutputsAreNotAskedForAgain: an up has reported them.
func TestOutputsAreNotAskedForAgain(t *testing.T) {
	t.Parallel()
	after := map[string]any{"id": "1", "password": secret()}
	e := open(t, []string{"vpc"}, call{args: "up", events: []apitype.EngineEvent{ofStack(nil, after), summed(nil)}},
		call{args: "stack output --json --show-secrets --stack organization/vpc/dev", stdout: `{"password":"p"}`})
	if _, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, func(event.Event) {}); err != nil {
		t.Fatal(err)
	}
	reported, err := e.Outputs(t.Context(), "vpc", false)
	if diff := cmp.Diff(map[string]any{"id": "1", "password": "[secret]"}, reported); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if shown, err := e.Outputs(t.Context(), "vpc", true); err != nil || shown["password"] != "p" {
		t.Errorf("with secrets: %v, %v", shown, err)
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	state := func(outputs map[string]any) *apitype.StepEventStateMetadata {
		return &apitype.StepEventStateMetadata{Outputs: outputs}
	}
	for _, test := range []struct {
		name string
		step apitype.StepEventMetadata
		want []string
	}{
		{"gone", apitype.StepEventMetadata{Op: apitype.OpDelete, Old: state(nil)}, nil},
		{"as the provider tells", apitype.StepEventMetadata{Op: apitype.OpUpdate, Old: state(nil), New: state(nil),
			DetailedDiff: map[string]apitype.PropertyDiff{"spec.replicas": {}, "metadata.labels": {}}}, []string{"metadata.labels", "spec.replicas"}},
		{"by name", apitype.StepEventMetadata{Op: apitype.OpReplace, Old: state(nil), New: state(nil), Diffs: []string{"b", "a"}}, []string{"a", "b"}},
		{"compared", apitype.StepEventMetadata{Op: apitype.OpUpdate, Old: state(map[string]any{"a": 1.0, "b": 1.0, "c": 1.0}),
			New: state(map[string]any{"a": 1.0, "b": 2.0, "d": 1.0})}, []string{"b", "c", "d"}},
		{"same", apitype.StepEventMetadata{Op: apitype.OpSame, Old: state(map[string]any{"a": 1.0}), New: state(nil)}, nil},
	} {
		if diff := cmp.Diff(test.want, propertiesOf(test.step)); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}
