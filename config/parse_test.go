package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	one := 1
	tests := []struct {
		name string
		key  Key
		in   string
		want any
		err  string
	}{
		{"a version stays a text", Key{Kind: String}, "1.30", "1.30", ""},
		{"number", Key{Kind: Int}, "3", 3, ""},
		{"too small", Key{Kind: Int, Min: &one}, "0", nil, "is 0; the smallest allowed value is 1"},
		{"no number", Key{Kind: Int}, "many", nil, `must be a whole number, not the string "many"`},
		{"boolean", Key{Kind: Bool}, "True", true, ""},
		{"no boolean", Key{Kind: Bool}, "yes", nil, `must be true or false, not the string "yes"`},
		{"not allowed", Key{Kind: String, Allowed: []string{"a", "b"}}, "c", nil, `is "c"; allowed: a, b`},
		{"list with commas", Key{Kind: List}, "a, 1.0,", []any{"a", "1.0"}, ""},
		{"list as YAML", Key{Kind: List}, `["a b", c]`, []any{"a b", "c"}, ""},
		{"empty list", Key{Kind: List}, "[]", []any{}, ""},
		{"list of numbers", Key{Kind: List}, "[1, 2]", nil, "has the number 1 as item 1; items must be strings"},
		{"map", Key{Kind: Map}, "{a: {b: 1.30}}", map[string]any{"a": map[string]any{"b": "1.30"}}, ""},
		{"map over lines", Key{Kind: Map}, "a: 1\nb: true", map[string]any{"a": 1, "b": true}, ""},
		{"no map", Key{Kind: Map}, "a", nil, `must be a map, not the string "a"`},
		{"no YAML", Key{Kind: Map}, "{a", nil, "is not valid YAML: line 1: did not find expected ',' or '}'"},
		{"empty map", Key{Kind: Map}, "", nil, "is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.key.Parse(tt.in)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

// TestShow: what Show prints, Parse reads.
func TestShow(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		"":                      nil,
		"x":                     "x",
		"3":                     3,
		"[secret]":              Ciphertext("v1:x"),
		`["1.0", a b]`:          []any{"1.0", "a b"},
		`{a: '[secret]', b: 1}`: map[string]any{"a": Ciphertext("v1:x"), "b": 1},
		`["x\ny  z"]`:           []string{"x\ny  z"},
	} {
		if got := Show(value); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNeeded(t *testing.T) {
	t.Parallel()
	keys := []Key{{Name: "a:b", Variables: []string{"B"}}, {Name: "a:c"}, {Name: "a:d", Variables: []string{"E", "D"}}}
	var got []string
	for _, key := range Needed(keys, Sources{Process: []string{"B=", "D=x"}}) {
		got = append(got, key.Name)
	}
	if diff := cmp.Diff([]string{"a:b", "a:c"}, got); diff != "" {
		t.Error(diff)
	}
}
