package config

import (
	"strings"
	"testing"
)

func TestKeyNamespace(t *testing.T) {
	t.Parallel()
	if got := (Key{Name: "eks:k8s_version"}).Namespace(); got != "eks" {
		t.Errorf("got %q", got)
	}
}

func TestKeyValidate(t *testing.T) {
	t.Parallel()
	one, nine := 1, 9
	number := Key{Kind: Int, Min: &one, Max: &nine}
	choice := Key{Kind: String, Allowed: []string{"aws", "kind"}}
	tests := []struct {
		name  string
		key   Key
		value any
		want  string // "" means valid
	}{
		{"string", Key{Kind: String}, "1.30", ""},
		{"number for a string", Key{Kind: String}, 3, ""},
		{"number for a string of a form", Key{Kind: String, Allowed: []string{"4"}}, 3, `is "3"; allowed: 4`},
		{"boolean for a string", Key{Kind: String}, true, "must be a string in quotes, not the boolean true"},
		{"list in JSON", Key{Kind: List}, `["a", "b"]`, ""},
		{"list in JSON for Pulumi", Key{Kind: List, Typed: true}, `["a"]`, `must be a list, not the string "[\"a\"]"`},
		{"broken list in JSON", Key{Kind: List}, `["a", `, `must be a list, not the string "[\"a\", "`},
		{"list for a string", Key{Kind: String}, []any{}, "must be a string in quotes, not a list"},
		{"allowed", choice, "kind", ""},
		{"not allowed", choice, "gke", `is "gke"; allowed: aws, kind`},
		{"address", Key{Kind: String, Form: Email}, "ops@example.com", ""},
		{"no address", Key{Kind: String, Form: Email}, "", ""},
		{"half an address", Key{Kind: String, Form: Email}, "ops@", `is "ops@", which is not an e-mail address`},
		{"address with a name", Key{Kind: String, Form: Email}, "Ops <ops@example.com>", `is "Ops <ops@example.com>", which is not an e-mail address`},
		{"host", Key{Kind: String, Form: Host}, "bank.example-1.com", ""},
		{"capitals", Key{Kind: String, Form: Host}, "Bank.example.com", `is "Bank.example.com", which is not a host name in lower case`},
		{"address for a host", Key{Kind: String, Form: Host}, "192.0.2.1", `is "192.0.2.1", which is not a host name in lower case`},
		{"integer", number, 9, ""},
		{"integer as Pulumi writes it", number, "3", ""},
		{"integer below", number, 0, "is 0; the smallest allowed value is 1"},
		{"integer above", number, "10", "is 10; the largest allowed value is 9"},
		{"no integer", number, "many", `must be a whole number, not the string "many"`},
		{"fraction", number, "1.5", `must be a whole number, not the string "1.5"`},
		{"nothing", number, nil, "must be a whole number, not nothing"},
		{"boolean", Key{Kind: Bool}, false, ""},
		{"boolean as Pulumi writes it", Key{Kind: Bool}, "true", ""},
		{"yes", Key{Kind: Bool}, "yes", `must be true or false, not the string "yes"`},
		{"number for a boolean", Key{Kind: Bool}, 1, "must be true or false, not the number 1"},
		{"map for a boolean", Key{Kind: Bool}, map[string]any{}, "must be true or false, not a map"},
		{"list for a boolean", Key{Kind: Bool}, []any{"x"}, "must be true or false, not a list"},
		{"list", Key{Kind: List}, []any{"a", "b"}, ""},
		{"list with a number", Key{Kind: List}, []any{"a", 1}, "has the number 1 as item 2; items must be strings"},
		{"string for a list", Key{Kind: List}, "a,b", `must be a list, not the string "a,b"`},
		{"map", Key{Kind: Map}, map[string]any{"a": 1}, ""},
		{"boolean for a map", Key{Kind: Map}, true, "must be a map, not the boolean true"},
		{"undeclared kind", Key{Kind: "date"}, "x", `has the undeclared kind "date"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := tt.key.Validate(tt.value); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCheckStackName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dev", "Dev", "a-b_c.d", "1", strings.Repeat("x", 100), ".hidden"} {
		if err := CheckStackName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	tests := []struct{ name, want string }{
		{"", "may not be empty"},
		{"org/dev", `the stack name "org/dev" contains '/'`},
		{"my dev", `contains ' '`},
		{"dév", `contains 'é'`},
		{"..", "is not a stack name"},
		{strings.Repeat("x", 200), "has 200 characters; at most 100"},
	}
	for _, tt := range tests {
		if err := CheckStackName(tt.name); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	known := []string{"min_size", "max_size", "desired_capacity", "aws", "kind"}
	tests := []struct{ word, want string }{
		{"min_szie", "min_size"},
		{"desired_capcity", "desired_capacity"},
		{"AWS", "aws"},
		{"kind", "kind"},
		{"knd", "kind"},
		{"zz", ""},
		{"gke", ""},
		{"something", ""},
	}
	for _, tt := range tests {
		if got := Suggest(tt.word, known); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.word, got, tt.want)
		}
	}
}
