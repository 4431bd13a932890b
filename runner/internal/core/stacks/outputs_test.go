package stacks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/pulumicli/wire"
)

// TestOutputsAreChanges checks that a preview and an up report and count the outputs
// that change, and that a refresh, which runs no program, does not.
func TestOutputsAreChanges(t *testing.T) {
	t.Parallel()
	before, after := map[string]any{"domain": "a", "password": secret()}, map[string]any{"domain": "b", "password": secret()}
	changed := []event.OutputChange{{Name: "domain", Action: event.Update, Before: "a", After: "b"}}
	for _, test := range []struct {
		operation operation.Operation
		before    map[string]any
		want      []event.OutputChange
	}{
		{operation.Preview, before, changed},
		{operation.Up, before, changed},
		{operation.Up, after, nil},
		{operation.Refresh, before, nil},
	} {
		command := string(test.operation)
		e := open(t, []string{"vpc"}, call{args: command, events: []apitype.EngineEvent{ofStack(test.before, after), summed(map[apitype.OpType]int{apitype.OpSame: 1})}})
		var reported []event.OutputChange
		task := Task{Operation: test.operation, Step: step("vpc"), Record: true}
		outcome, err := e.Operate(t.Context(), task, func(e event.Event) { reported = append(reported, e.Outputs...) })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, reported); diff != "" || outcome.Changes != (event.Changes{Same: 1, Outputs: len(test.want)}) {
			t.Errorf("%s: %+v\n%s", command, outcome.Changes, diff)
		}
		if recorded, ok := e.Previewed("vpc"); ok && !cmp.Equal(test.want, recorded.Outputs) {
			t.Errorf("the plan has %+v", recorded.Outputs)
		}
	}
}

// TestSecretOutputsOfAnUpAlone checks that an up without a preview asks for the secret
// outputs whose change the events do not show, and for no others.
func TestSecretOutputsOfAnUpAlone(t *testing.T) {
	t.Parallel()
	before := map[string]any{"domain": "a", "same": "a", "password": secret(), "token": secret()}
	after := map[string]any{"domain": "b", "same": "a", "password": secret(), "token": secret()}
	e := open(t, []string{"vpc"}, call{args: "up", events: []apitype.EngineEvent{ofStack(before, after), summed(nil)}})
	var asked []string
	task := Task{Operation: operation.Up, Step: step("vpc"), Secrets: func(name string) bool {
		asked = append(asked, name)
		return name == "token"
	}}
	outcome, err := e.Operate(t.Context(), task, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	want := []event.OutputChange{
		{Name: "domain", Action: event.Update, Before: "a", After: "b"}, {Name: "token", Action: event.Update, Before: Secret, After: Secret},
	}
	if diff := cmp.Diff(want, outcome.Outputs); diff != "" || !cmp.Equal(asked, []string{"password", "token"}) {
		t.Errorf("asked for %q\n%s", asked, diff)
	}
}

// TestSecretOutputsAreChanges checks that a secret output whose value differs counts
// in the preview that has found it and in the up after it, without its value.
func TestSecretOutputsAreChanges(t *testing.T) {
	t.Parallel()
	outputs := map[string]any{"domain": "a", "password": secret(), "token": secret()}
	same := []apitype.EngineEvent{ofStack(outputs, outputs), summed(map[apitype.OpType]int{apitype.OpSame: 1})}
	fake := &foreseeing{
		fakePulumi: newFake(t, call{args: "stack ls --all --json", stdout: listing("organization/vpc/dev")}, call{args: "preview", events: same}, call{args: "up", events: same}),
		found: map[string]wire.Found{"organization/vpc/dev": {Values: wire.Values("v"), Outputs: []wire.Output{
			{Name: "domain"}, {Name: "password", Secret: true, Change: wire.Changed}, {Name: "token", Secret: true},
		}}},
	}
	e := openWith(t, fake, nil)
	want := []event.OutputChange{{Name: "password", Action: event.Update, Before: Secret, After: Secret}}
	for _, op := range []operation.Operation{operation.Preview, operation.Up} {
		var reported []event.OutputChange
		outcome, err := e.Operate(t.Context(), Task{Operation: op, Step: step("vpc")}, func(e event.Event) { reported = append(reported, e.Outputs...) })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, reported); diff != "" || outcome.Changes.Outputs != 1 {
			t.Errorf("%s: %+v\n%s", op, outcome.Changes, diff)
		}
	}
}
