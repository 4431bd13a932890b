package updateplan

import (
	"maps"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"mara/config/lists"
	"mara/runner/internal/core/event"
)

// OutputChanges compares the outputs of a stack before and after a step, as Pulumi's
// engine reports them, and returns the changes by name. The engine hides secret outputs,
// so hidden reports whether a secret output differs; nil means "no". mask hides secrets in
// strings.
func OutputChanges(before, after map[string]any, hidden func(name string) bool,
	mask func(string) string) []event.OutputChange {
	r := reader{mask: mask}
	var changes []event.OutputChange
	for _, name := range lists.Keys(before, after) {
		was, existed := before[name]
		is, exists := after[name]
		change := event.OutputChange{Name: name, Action: event.Update, Before: r.value(was, name), After: r.value(is, name)}
		switch {
		case !existed:
			change.Action, change.Before = event.Create, nil
		case !exists:
			change.Action, change.After = event.Delete, nil
		case !reflect.DeepEqual(was, is):
		case hidden == nil || !holdsSecret(is) || !hidden(name):
			continue
		}
		changes = append(changes, change)
	}
	return changes
}

// isSecret reports whether a value is a secret of the engine.
func isSecret(value map[string]any) bool { return value[sig.Key] == sig.Secret }

// holdsSecret reports whether a value is or contains a secret.
func holdsSecret(value any) bool {
	return holds(value, func(part any) bool {
		properties, _ := part.(map[string]any)
		return part == event.Masked || isSecret(properties)
	})
}

// holds reports whether a value, or a part of it, is what is asked for.
func holds(value any, is func(part any) bool) bool {
	isIn := func(part any) bool { return holds(part, is) }
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, isIn)
	case map[string]any:
		return is(value) || slices.ContainsFunc(slices.Collect(maps.Values(value)), isIn)
	}
	return is(value)
}
