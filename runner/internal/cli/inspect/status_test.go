package inspect

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/schema"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/view"
)

// TestSchemasKnowEveryField compares what is printed with what is described.
func TestSchemasKnowEveryField(t *testing.T) {
	t.Parallel()
	type object struct{ Properties map[string]any }
	for _, test := range []struct {
		schema, def string
		in          any
	}{
		{"history", "run", view.PastRun{}}, {"status", "run", view.PastRun{}}, {"status", "", environmentStatus{}},
		{"status", "project", projectStatus{}}, {"status", "stale", stacks.Stale{}}, {"status", "pending", stacks.Pending{}}, {"status", "orphan", inventory.Orphan{}},
	} {
		content, err := schema.Get(test.schema)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			object
			Defs map[string]object `json:"$defs"`
		}
		if err := json.Unmarshal(content, &s); err != nil {
			t.Fatal(err)
		}
		described := s.Properties
		if test.def != "" {
			described = s.Defs[test.def].Properties
		}
		var printed []string
		for _, field := range reflect.VisibleFields(reflect.TypeOf(test.in)) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "-" && !field.Anonymous { // an embedded struct is printed as its fields
				printed = append(printed, name)
			}
		}
		slices.Sort(printed)
		if diff := cmp.Diff(printed, slices.Sorted(maps.Keys(described))); diff != "" {
			t.Errorf("%s %s: %s", test.schema, test.def, diff)
		}
	}
}

func TestStateOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		operation operation.Operation
		result    string
		resources int
		want      string
	}{
		{"up", "succeeded", 3, stateDeployed},
		{"up", "failed", 3, stateFailed},
		{"up", "failed", 0, stateFailed},
		{"up", "in-progress", 3, stateDeployed},
		{"refresh", "succeeded", 3, stateDeployed},
		{"destroy", "succeeded", 0, stateDestroyed},
		{"destroy", "failed", 2, stateFailed},
		{"destroy", "succeeded", 1, stateDeployed}, // up has begun since
		{"up", "succeeded", 0, stateNever},
		{"", "", 0, stateNever},
	} {
		if got := stateOf(test.operation, test.result, test.resources); got != test.want {
			t.Errorf("%s %s with %d: got %s, want %s", test.operation, test.result, test.resources, got, test.want)
		}
	}
}

func TestStatusColours(t *testing.T) {
	t.Parallel()
	status := environmentStatus{Projects: []projectStatus{{Project: "a", State: stateDeployed}, {Project: "bb", State: stateFailed}}}
	text := status.text(time.Time{}, 0, true)
	for _, want := range []string{"a        \x1b[32mdeployed\x1b[0m  -", "bb       \x1b[31mfailed\x1b[0m    -"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %q", want, text)
		}
	}
}
