package event_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

func TestOutputChangeString(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		change event.OutputChange
		want   string
	}{
		{event.OutputChange{Name: "domain", Action: event.Update, Before: "a", After: "b"}, `~ domain: "a" => "b"`},
		{event.OutputChange{Name: "id", Action: event.Update, Before: 1.0, After: event.Unknown}, `~ id: 1 => [unknown]`},
		{event.OutputChange{Name: "token", Action: event.Update, Before: event.Masked, After: event.Masked}, `~ token: [secret] => [secret]`},
		{event.OutputChange{Name: "list", Action: event.Create, After: []any{"<a>", map[string]any{"b": true}}}, `+ list: ["<a>",{"b":true}]`},
		{event.OutputChange{Name: "gone", Action: event.Delete, Before: "x"}, `- gone: "x"`},
		{event.OutputChange{Name: "nothing", Action: event.Create}, `+ nothing: null`},
		{event.OutputChange{Name: "long", Action: event.Create, After: strings.Repeat("ä", 200)}, `+ long: "` + strings.Repeat("ä", 119) + "…"},
		{event.OutputChange{Name: "text", Action: event.Create, After: "a\nb"}, `+ text: "a\nb"`},
	} {
		if got := test.change.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// TestOutputsCount checks that outputs are changes, and no resources.
func TestOutputsCount(t *testing.T) {
	t.Parallel()
	only := event.Changes{Same: 2, Outputs: 1}
	if !only.Any() || only.Resources().Any() || only.Total() != 2 || only.IsNew() {
		t.Errorf("%+v: any %t, of resources %t, total %d", only, only.Any(), only.Resources().Any(), only.Total())
	}
	for _, test := range []struct {
		got, want string
	}{
		{only.String(), "1 output"},
		{only.Words(operation.Preview), "1 output to change"},
		{only.Plus(event.Changes{Update: 1, Outputs: 1}).Words(operation.Up), "1 updated, 2 outputs changed"},
		{event.Changes{Create: 2, Delete: 1, Outputs: 3}.String(), "+2 -1, 3 outputs"},
		{event.Changes{Same: 1}.Words(operation.Preview), "no changes"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// TestOutputsAreMasked checks that values are cleaned and masked at any depth.
func TestOutputsAreMasked(t *testing.T) {
	t.Parallel()
	var got event.Event
	emitter := event.NewEmitter(event.EmitterOptions{Masker: event.NewMasker("hunter2hunter2"), Sinks: []event.Sink{sinkFunc(func(e event.Event) { got = e })}})
	emitter.Emit(event.Event{Type: event.StepOutputs, Outputs: []event.OutputChange{{
		Name: "o", Action: event.Update, Before: "\x1b[31mred", After: []any{map[string]any{"k": "x hunter2hunter2", "hunter2hunter2": 1.0}},
	}}})
	emitter.Close()
	want := []event.OutputChange{{Name: "o", Action: event.Update, Before: "red", After: []any{map[string]any{"k": "x [secret]", "[secret]": 1.0}}}}
	if diff := cmp.Diff(want, got.Outputs); diff != "" {
		t.Error(diff)
	}
}
