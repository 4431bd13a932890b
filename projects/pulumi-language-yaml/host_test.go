package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"": "", "text": "text", "3": 3.0, "-1.5": -1.5, "0": 0.0, "0.5": 0.5, "01234": "01234", "1.30": 1.3,
		"true": true, "false": false, `["a"]`: []any{"a"}, `{"a":1}`: map[string]any{"a": 1.0}, `{"a"`: `{"a"`,
	} {
		if diff := cmp.Diff(want, valueOf(text).Mappable()); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// TestDeclaredValues: a key that is declared as a string holds a string, whatever it looks like.
func TestDeclaredValues(t *testing.T) {
	t.Parallel()
	template, _, err := load(program(t, `name: p
runtime: yaml
config:
  typed: {type: string}
  hidden: {type: String, secret: true}
  q:other: {type: string}
  default: {default: "1.10"}
  short: "7"
  number: {type: integer}
  real: {default: 3}
  list: {type: array, items: {type: string}}
`))
	if err != nil {
		t.Fatal(err)
	}
	const text = "1e3"
	config := map[string]string{"p:free": text, "p:list": `["1"]`}
	for _, key := range []string{"p:typed", "p:hidden", "q:other", "p:default", "p:short", "p:number", "p:real"} {
		config[key] = text
	}
	got := values(template, "p", config, []string{"p:hidden", "p:free"})
	want := resource.PropertyMap{
		"p:typed": resource.NewProperty(text), "p:hidden": resource.MakeSecret(resource.NewProperty(text)),
		"q:other": resource.NewProperty(text), "p:default": resource.NewProperty(text), "p:short": resource.NewProperty(text),
		"p:number": resource.NewProperty(1000.0), "p:real": resource.NewProperty(1000.0),
		"p:free": resource.MakeSecret(resource.NewProperty(1000.0)), "p:list": resource.NewPropertyValue([]any{"1"}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, odd := range []string{"7341e5", "1.10", "t", "nan", "null", "12345678901234567890", "true", "[1]", "inf", "0x10", "1_000", ""} {
		value := values(template, "p", map[string]string{"p:typed": odd}, nil)["p:typed"]
		if !value.IsString() || value.StringValue() != odd {
			t.Errorf("%q became %v", odd, value)
		}
	}
}

// program writes a directory with a Pulumi.yaml.
func program(t *testing.T, content string) *pulumirpc.ProgramInfo {
	t.Helper()
	dir := t.TempDir()
	if content != "" {
		if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &pulumirpc.ProgramInfo{ProgramDirectory: dir, EntryPoint: "."}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	compiled := program(t, "name: p\nruntime: yaml\n")
	var err error
	if compiled.Options, err = structpb.NewStruct(map[string]any{"compiler": "cue export"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		info  *pulumirpc.ProgramInfo
		wrong string
	}{
		{"good", program(t, "name: p\nruntime: yaml\noutputs: {a: b}\n"), ""},
		{"nothing", program(t, ""), "there is no Main.yaml, Main.json or Pulumi.yaml in "},
		{"no YAML", program(t, "name: p\nruntime: yaml\noutputs: ["), "reading Pulumi.yaml: yaml: line 3"},
		{"a wrong shape", program(t, "name: p\nruntime: yaml\nresources: [a]\n"), "Pulumi.yaml:3:12: resources must be"},
		{"a compiler", compiled, "the option compiler"},
	} {
		_, _, err := load(test.info)
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.wrong)
		}
	}
}

// TestDescribedKeys: the descriptions that the runner asks with are no warnings; misspelled fields are.
func TestDescribedKeys(t *testing.T) {
	t.Parallel()
	_, warnings, err := load(program(t, "name: p\nruntime: yaml\nconfig:\n  size: {type: string, default: s, description: how large}\n  other: {type: string, defalt: s}\n"))
	if err != nil || len(warnings) != 1 || !strings.Contains(text(warnings[0]), "'defalt' does not exist") {
		t.Errorf("warnings %v, error %v; want one, about defalt", warnings, err)
	}
}

func TestRequiredPackages(t *testing.T) {
	t.Parallel()
	info := program(t, `name: p
runtime: yaml
resources:
  a: {type: "random:RandomPet", options: {version: 4.1.0}}
  b: {type: "kubernetes:core/v1:Namespace"}
`)
	got, err := (&host{}).GetRequiredPackages(t.Context(), &pulumirpc.GetRequiredPackagesRequest{Info: info})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, p := range got.GetPackages() {
		found[p.GetName()] = p.GetVersion()
	}
	if diff := cmp.Diff(map[string]string{"random": "4.1.0", "kubernetes": ""}, found); diff != "" {
		t.Error(diff)
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	at := &hcl.Range{Filename: "net/Pulumi.yaml", Start: hcl.Pos{Line: 7, Column: 3}}
	unreported, reported := syntax.Error(at, "bad luck", "it is\n  so"), syntax.Error(nil, "reported", "reported")
	kept := syntax.Error(at, "list index 7 out-of-bounds", "")
	reported.Shown, kept.Shown = true, true
	const (
		said  = "list index 7 out-of-bounds\n\n  on net/Pulumi.yaml line 7:\n   7:   b: {}\n"
		other = "no one returns\nthis\n\n  on net/Pulumi.yaml line 9, in resources:\n   9:   c: {}\n"
	)
	for _, test := range []struct {
		name, want string
		err        error
		bail       bool
		said       []string
	}{
		{"nothing", "", nil, false, nil},
		{"another error", "oh no", errors.New("oh no"), false, nil},
		{"not yet reported", "net/Pulumi.yaml:7:3: bad luck: it is so", syntax.Diagnostics{reported, unreported}, false, nil},
		{"reported", "", syntax.Diagnostics{reported}, true, nil},
		{"a warning", "", syntax.Diagnostics{syntax.Warning(nil, "careful", "")}, false, nil},
		{"kept from the log", "net/Pulumi.yaml:7:3: list index 7 out-of-bounds", syntax.Diagnostics{kept}, false, []string{said}},
		{"kept, and nowhere else", "net/Pulumi.yaml:7:3: list index 7 out-of-bounds\nnet/Pulumi.yaml:9: no one returns this",
			syntax.Diagnostics{kept}, false, []string{said, other}},
	} {
		log := &told{}
		for _, message := range test.said {
			_ = log.Error(message, nil)
		}
		if got := log.answer(test.err); got.GetError() != test.want || got.GetBail() != test.bail {
			t.Errorf("%s: got %q, %t", test.name, got.GetError(), got.GetBail())
		}
	}
}

// heard is a log that remembers what reaches the engine.
type heard struct {
	pulumi.Log
	lines []string
}

func (h *heard) Warn(message string, _ *pulumi.LogArgs) error {
	h.lines = append(h.lines, message)
	return nil
}

func (h *heard) Error(message string, args *pulumi.LogArgs) error { return h.Warn(message, args) }

// TestTold: no finding reaches the engine with an excerpt, and no echo of one.
func TestTold(t *testing.T) {
	t.Parallel()
	engine := &heard{}
	log := &told{Log: engine}
	_ = log.Warn("old\n\n  on net/Pulumi.yaml line 4:\n   4: b: c\n", nil)
	_ = log.Error("Error registering variable [b]: no diagnostics", nil)
	_ = log.Error("plain", nil)
	if want := []string{"net/Pulumi.yaml:4: old", "plain"}; !cmp.Equal(want, engine.lines) {
		t.Errorf("got %q", engine.lines)
	}
}

// TestShown: files are named from the root on where the runner says which it is.
func TestShown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ root, file, want string }{
		{"/r", "/r/net/Pulumi.yaml", "net/Pulumi.yaml"}, {"/r", "/r/a/b/Main.yaml", "a/b/Main.yaml"},
		{"", "/r/net/Pulumi.yaml", "Pulumi.yaml"}, {"/r/x", "/r/net/Pulumi.yaml", "Pulumi.yaml"},
	} {
		if got := shown(test.root, test.file); got != test.want {
			t.Errorf("%s from %q: got %s", test.file, test.root, got)
		}
	}
}
