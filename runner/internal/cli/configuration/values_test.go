package configuration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"db:replicas.eu[0]": {"db:replicas", "eu[0]"},
		"db:list[1].name":   {"db:list", "[1].name"},
		"db:size":           {"db:size", ""},
		"db":                {"db", ""},
		"db:.a":             {"db:.a", ""},
	} {
		key, path, ok := splitPath(text)
		if key != want[0] || path != want[1] || ok != (want[1] != "") {
			t.Errorf("%s: %q, %q, %t", text, key, path, ok)
		}
	}
}

// TestWithin: one value of a map or a list changes, maps are made on the way, and what was there is not touched.
func TestWithin(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	type l = []any
	before := m{"eu": l{"a", "b"}, "size": 1}
	for _, test := range []struct {
		path, text string
		want       any // nil for an error
	}{
		{"eu[1]", "c", m{"eu": l{"a", "c"}, "size": 1}},
		{"us.east", "x", m{"eu": l{"a", "b"}, "size": 1, "us": m{"east": "x"}}},
		{"eu[2]", "c", m{"eu": l{"a", "b", "c"}, "size": 1}},
		{"us[0].n", "12", m{"eu": l{"a", "b"}, "size": 1, "us": l{m{"n": 12}}}},
		{"us", "-3", m{"eu": l{"a", "b"}, "size": 1, "us": -3}},
		{"us", "007", m{"eu": l{"a", "b"}, "size": 1, "us": "007"}},
		{"us", "1.5", m{"eu": l{"a", "b"}, "size": 1, "us": "1.5"}},
		{"us", "true", m{"eu": l{"a", "b"}, "size": 1, "us": true}},
		{"us[\"x.y\"]", "null", m{"eu": l{"a", "b"}, "size": 1, "us": m{"x.y": "null"}}},
		{"eu[-1]", "c", nil},
		{"eu.a", "c", nil},
		{"size[0]", "c", nil},
		{"eu[9]", "c", nil},
		{"eu[", "c", nil},
	} {
		got, _, err := within(before, test.path, test.text)
		if (err != nil) != (test.want == nil) {
			t.Errorf("%s: %v, %v", test.path, got, err)
		} else if diff := cmp.Diff(test.want, got); err == nil && diff != "" {
			t.Errorf("%s: %s", test.path, diff)
		}
	}
	if diff := cmp.Diff(m{"eu": l{"a", "b"}, "size": 1}, before); diff != "" {
		t.Errorf("the value that was there has changed: %s", diff)
	}
}
