package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"mara/runner/internal/event/eventtest"
	"mara/runner/internal/journal"
	"mara/runner/internal/schema"
	"mara/runner/internal/stacks"
)

// conforms holds a text against a schema that the runner prints.
func conforms(t *testing.T, name string, text []byte) {
	t.Helper()
	content, err := schema.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
	}
}

func TestStatusConforms(t *testing.T) {
	t.Parallel()
	root, i := lookedAt(t)
	d, stdout, stderr := installedDeps(t, root, i)
	if code := Run(context.Background(), d, []string{"status", "-o", "json"}); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	conforms(t, "status", stdout.Bytes())
}

func TestHistoryConforms(t *testing.T) {
	t.Parallel()
	root, j := recorded(t, journal.Meta{User: "jane", Host: "laptop"}, eventtest.Failure())
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	d, stdout, stderr := testDeps(t)
	d.Dir = root
	if code := Run(context.Background(), d, []string{"history", "-o", "json"}); code != exitDone || !strings.Contains(stdout.String(), "jane@laptop") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	conforms(t, "history", stdout.Bytes())
}

// TestSchemasKnowEveryField compares what is printed with what is described.
func TestSchemasKnowEveryField(t *testing.T) {
	t.Parallel()
	type object struct{ Properties map[string]any }
	for _, test := range []struct {
		schema, def string
		in          any
	}{
		{"history", "run", pastRun{}}, {"status", "run", pastRun{}}, {"status", "", environmentStatus{}},
		{"status", "project", projectStatus{}}, {"status", "stale", stacks.Stale{}}, {"status", "pending", stacks.Pending{}},
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
		for field := range reflect.TypeOf(test.in).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			printed = append(printed, name)
		}
		slices.Sort(printed)
		if diff := cmp.Diff(printed, slices.Sorted(maps.Keys(described))); diff != "" {
			t.Errorf("%s %s: %s", test.schema, test.def, diff)
		}
	}
}
