package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func declaredKeys() []Key {
	one := 1
	return []Key{
		{Name: "kubernetes:infra_type", Kind: String, Required: true, Allowed: []string{"aws", "kind"}, Example: "kind", Doc: "provider of the stack"},
		{Name: "aws:region", Kind: String, OfPlugin: true},
		{Name: "eks:min_size", Kind: Int, Min: &one},
		{Name: "eks:k8s_version", Kind: String},
		{Name: "eks:tags", Kind: Map},
		{Name: "kubernetes:infra_type", Kind: String},
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"good", "kubernetes:infra_type: kind\n  eks:min_size: 3\n  eks:k8s_version: 1.30", ""},
		{"encrypted", "eks:k8s_version: {secure: x}", ""},
		{"nothing where nothing is needed", "eks:min_size:", ""},
		{"nothing where a value is needed", "kubernetes:infra_type:", "f:2: kubernetes:infra_type must be a string in quotes, not nothing"},
		{"wrong type", "eks:min_size: many", `f:2: eks:min_size must be a whole number, not the string "many"`},
		{"out of range", "eks:min_size: 0", "f:2: eks:min_size is 0; the smallest allowed value is 1"},
		{"not allowed", "kubernetes:infra_type: gke", `f:2: kubernetes:infra_type is "gke"; allowed: aws, kind`},
		{"typing error", "eks:min_szie: 3", `f:2: eks:min_szie is read by no project; did you mean "eks:min_size"?`},
		{"unknown in a project's namespace", "eks:flavour: 3", "f:2: eks:flavour is read by no project; in eks there are: min_size, k8s_version, tags"},
		{"provider's own setting", "aws:profile: me\n  kubernetes:context: x\n  docker:host: y\n  random:x: z", ""},
		{"typing error beside provider's own settings", "kubernetes:infra_tpye: kind", `f:2: kubernetes:infra_tpye is read by no project; did you mean "kubernetes:infra_type"?`},
		{"namespace of another program", "ecs:cluster: x\n  myapp:size: 1", ""},
		{"typing error in the namespace", "esk:min_size: 3", `f:2: esk:min_size is read by no project; did you mean "eks:min_size"?`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, err := ParseStack("f", []byte("config:\n  "+tt.in+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, problem := range file.Check(declaredKeys()) {
				got = append(got, problem.String())
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidateReportsEverything(t *testing.T) {
	t.Parallel()
	file, err := ParseStack("f", []byte("config:\n  eks:min_size: x\n  eks:k8s_versoin: 1.30\n"))
	if err != nil {
		t.Fatal(err)
	}
	err = file.Validate(declaredKeys(), declaredKeys())
	want := "3 problems in the configuration:\n" +
		"  f:2: eks:min_size must be a whole number, not the string \"x\"\n" +
		"  f:3: eks:k8s_versoin is read by no project; did you mean \"eks:k8s_version\"?\n" +
		"  f: kubernetes:infra_type is missing: provider of the stack; allowed: aws, kind; set it with `runner config set kubernetes:infra_type kind`, for one run with --config kubernetes:infra_type=kind"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if err := (StackFile{}).Validate(declaredKeys(), nil); err != nil {
		t.Errorf("nothing needed, nothing given: %v", err)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	keys := []Key{{Name: "a:b", Required: true}, {Name: "a:c"}, {Name: "a:b", Required: true}, {Name: "a:d", Required: true}}
	tests := []struct {
		in   string
		want int
	}{
		{"", 2},
		{"config: {a:b: x}", 1},
		{"config: {a:b: '', a:d: }", 2},
		{"config: {a:b: {secure: x}, a:d: 0}", 0},
	}
	for _, tt := range tests {
		file, err := ParseStack("f", []byte(tt.in))
		if err != nil {
			t.Fatal(err)
		}
		if got := file.Missing(keys); len(got) != tt.want {
			t.Errorf("%q: got %v", tt.in, got)
		}
	}
}

func TestQuoteYAML(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"kind": "kind", "1.30": `"1.30"`, "3": "3", "a:b": "a:b", "a: b": "'a: b'", "": `""`, "true": `"true"`} {
		if got := quoteYAML(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestMissingSaysHow(t *testing.T) {
	t.Parallel()
	keys := []Key{{Name: "a:b", Required: true, Example: `["x"]`, Variables: []string{"B", "C"}, Doc: "a list"}, {Name: "a:c", Required: true, Doc: "something"}}
	err := StackFile{File: "f"}.Validate(nil, keys)
	want := "2 problems in the configuration:\n" +
		"  f: a:b is missing: a list; set it with `runner config set a:b '[\"x\"]'`, for one run with --config a:b='[\"x\"]', or as B='[\"x\"]' in config/pulumi/environment\n" +
		"  f: a:c is missing: something; set it with `runner config set a:c VALUE`, for one run with --config a:c=VALUE"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestOverride: the values count for one run, and problems name the lines of the
// file that there is.
func TestOverride(t *testing.T) {
	t.Parallel()
	file, err := ParseStack("f", []byte("config:\n  a:b: 1\n\n  c:d: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := file.Override(Change{Key: "a:c", Value: []any{"x"}}, Change{Key: "c:d", Value: 3})
	if err != nil {
		t.Fatal(err)
	}
	if want := "config:\n  a:b: 1\n  a:c:\n    - x\n\n  c:d: 3\n"; string(got.Content) != want {
		t.Errorf("the working copy is %q", got.Content)
	}
	var problems []string
	for _, entry := range got.Entries {
		problems = append(problems, got.Problem(entry.Key, "is "+Show(entry.Value)).String()+" ("+got.Origin(entry).String()+")")
	}
	want := []string{"f:2: a:b is 1 (a:b in f:2)", "--config: a:c is [x] (--config)", "--config: c:d is 3 (--config)"}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
	if again, err := got.Override(Change{Key: "a:b", Value: 4}); err != nil || again.Origin(again.Entries[1]).Source != FromFlag || got.overridden["a:b"] {
		t.Errorf("%v, %v", again, err)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	flag := &FlagError{Flag: "--stack", Text: "no stack", Next: "name it"}
	two := &Error{Problems: []Problem{{Text: "a"}, {Text: "b"}}, Next: "mend them"}
	if err := Join(nil, nil); err != nil {
		t.Errorf("nothing is %v", err)
	}
	if err := Join(nil, flag); !errors.Is(err, flag) {
		t.Errorf("one is %v", err)
	}
	if err := Join(flag, nil, two, two); err == nil || err.Error() != "3 problems:\n  --stack: no stack; name it\n  a\n  b; mend them" {
		t.Errorf("several are %v", err)
	}
}
