package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseStack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []Entry
	}{
		{"empty", "", nil},
		{"comment only", "# nothing yet\n", nil},
		{"document start only", "---\n", nil},
		{"no values", "config:\n", nil},
		{"windows line ends", "config:\r\n  a:b: x\r\n", []Entry{{Key: "a:b", Value: "x", Line: 2}}},
		{"Pulumi's own keys", "encryptionsalt: v1:x=\nsecretsprovider: passphrase\nconfig:\n  a:b: x\n", []Entry{{Key: "a:b", Value: "x", Line: 4}}},
		{"a version keeps its text", "config:\n  a:b: 1.30\n", []Entry{{Key: "a:b", Value: "1.30", Line: 2}}},
		{"an account keeps its zeros", "config:\n  a:b: 0123\n  a:c: 0x1f\n  a:d: 1_000\n", []Entry{{Key: "a:b", Value: "0123", Line: 2}, {Key: "a:c", Value: "0x1f", Line: 3}, {Key: "a:d", Value: "1_000", Line: 4}}},
		{"a date keeps its text", "config:\n  a:b: 2026-11-20\n", []Entry{{Key: "a:b", Value: "2026-11-20", Line: 2}}},
		{"too large for a number", "config:\n  a:b: 99999999999999999999\n", []Entry{{Key: "a:b", Value: "99999999999999999999", Line: 2}}},
		{"number and boolean", "config:\n  a:b: 3\n  a:c: true\n  a:d: False\n  a:e: yes\n", []Entry{{Key: "a:b", Value: 3, Line: 2}, {Key: "a:c", Value: true, Line: 3}, {Key: "a:d", Value: false, Line: 4}, {Key: "a:e", Value: "yes", Line: 5}}},
		{"list", "config:\n  a:b: [x, 1.0]\n", []Entry{{Key: "a:b", Value: []any{"x", "1.0"}, Line: 2}}},
		{"map", "config:\n  a:b:\n    c: {d: 1}\n", []Entry{{Key: "a:b", Value: map[string]any{"c": map[string]any{"d": 1}}, Line: 2}}},
		{"encrypted", "config:\n  a:b:\n    secure: v1:abc=\n", []Entry{{Key: "a:b", Value: Ciphertext("v1:abc="), Line: 2}}},
		{"encrypted inside a map", "config:\n  a:b:\n    c: {secure: x}\n", []Entry{{Key: "a:b", Value: map[string]any{"c": Ciphertext("x")}, Line: 2}}},
		{"old form of a key", "config:\n  aws:config:region: x\n", []Entry{{Key: "aws:region", Value: "x", Line: 2}}},
		{"nothing", "config:\n  a:b:\n", []Entry{{Key: "a:b", Value: nil, Line: 2}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseStack("f", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Entries); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseStackRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"tab", "config:\n\ta:b: 1\n", "f:2: is not valid YAML: the line is indented with a tab; use spaces"},
		{"open bracket", "config: {a:b: 1", "f:1: is not valid YAML: "},
		{"zero byte", "\x00", "f: is not valid YAML: control characters"},
		{"list", "- a", "f:1: a stack file is a map with the key config, not a list"},
		{"text", "hello", `f:1: a stack file is a map with the key config, not the string "hello"`},
		{"config is a list", "config: [1]", "f:1: config must be a map of namespace:name to value, not a list"},
		{"config is a text", "config: x", `f:1: config must be a map of namespace:name to value, not the string "x"`},
		{"unknown key", "confg: {}", "f:1: confg is not a key of a stack file; allowed: config, encryptionsalt, secretsprovider, encryptedkey, environment; did you mean \"config\"?"},
		{"not indented", "config:\neks:size: 3", "f:2: eks:size belongs below config: indent it"},
		{"config twice", "config: {}\nconfig: {}", "f:2: config is set a second time; the first time is line 1"},
		{"key twice", "config:\n  a:b: 1\n  a:b: 2", "f:3: a:b is set a second time; the first time is line 2"},
		{"key twice in two forms", "config:\n  a:b: 1\n  a:config:b: 2", "f:3: a:config:b is the same key as in line 2"},
		{"key twice inside a map", "config:\n  a:b:\n    c: 1\n    c: 2", "f:4: a:b.c is set a second time; the first time is line 3"},
		{"no namespace", "config:\n  size: 3", "f:2: size is not a configuration key; write namespace:name"},
		{"empty name", "config:\n  'a:': 3", "f:2: a: is not a configuration key"},
		{"an alias in its own value", "config:\n  a:b: &x [*x]", "f:2: is not valid YAML: the alias *x stands within its own value"},
		{"an alias of nothing", "config:\n  a:b: *x", "f: is not valid YAML: unknown anchor 'x' referenced"},
		{"aliases without end", "config:\n  a:a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n  a:b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n  a:c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n" +
			"  a:d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n  a:e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\n  a:f: [*e, *e]", "f:2: is not valid YAML: its aliases stand for more than"},
		{"a merge of a text", "config:\n  <<: x", "f:2: has a merge (<<) as a key"},
		{"a merge of another key", "config:\n  <<: {a: b}", "f:2: a is not a configuration key"},
		{"tag", "config:\n  a:b: !!binary x", "f:2: a:b has the YAML tag !!binary"},
		{"second document", "config: {}\n---\nconfig: {}", "f:2: a second YAML document begins here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseStack("f", []byte(tt.in))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestAliases: anchors, aliases and merges stand for values, as YAML has it, and an edit of such a file changes nothing
// else.
func TestAliases(t *testing.T) {
	t.Parallel()
	const text = "config:\n  a:n: &n 3\n  a:m: *n # three\n  a:base: &base {x: 1, y: 2}\n  a:more: {<<: *base, y: 3}\n  <<: {b:c: merged}\n"
	file, err := ParseStack("f", []byte(text))
	want := map[string]any{
		"a:n": 3, "a:m": 3, "a:base": map[string]any{"x": 1, "y": 2}, "a:more": map[string]any{"x": 1, "y": 3}, "b:c": "merged",
	}
	if diff := cmp.Diff(want, file.Values()); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	edited, err := file.Edit(Change{Key: "a:m", Value: 4}, Change{Key: "b:c", Value: "own"})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(edited); !strings.Contains(got, "  a:m: 4 # three\n") || !strings.Contains(got, "  b:c: own\n") {
		t.Errorf("got %s", got)
	}
	if got, err := file.Edit(Change{Key: "b:c", Unset: true}); err == nil {
		t.Errorf("a merged key was removed: %s", got)
	}
	if got, err := file.Edit(Change{Key: "a:n", Unset: true}); err == nil {
		t.Errorf("an anchor that is in use was removed: %s", got)
	}
}

func TestReadStack(t *testing.T) {
	t.Parallel()
	root := newRoot(t, map[string]string{
		"config/pulumi/Pulumi.dev.yaml":         "config:\n  kubernetes:infra_type: kind\n  a:n: 1\n  a:s: {secure: x}\n",
		"config/pulumi/secrets/Pulumi.dev.yaml": "config:\n  a:p: {secure: y}\n",
	})
	dev, err := ReadStack(root, "dev")
	if err != nil || !dev.Exists {
		t.Fatal(dev, err)
	}
	origin := Origin{Source: FromStackConfig, Name: "kubernetes:infra_type", File: "config/pulumi/Pulumi.dev.yaml", Line: 2}
	if diff := cmp.Diff(Value{Text: "kind", Origin: origin}, dev.Text("kubernetes:infra_type")); diff != "" {
		t.Error(diff)
	}
	for _, key := range []string{"a:n", "a:s", "a:none"} {
		if dev.Text(key).IsSet() {
			t.Errorf("%s has a text", key)
		}
	}
	want := map[string]any{"kubernetes:infra_type": "kind", "a:n": 1, "a:s": Ciphertext("x")}
	if diff := cmp.Diff(want, dev.Values()); diff != "" {
		t.Error(diff)
	}
	if secrets, err := ReadSecrets(root, "dev"); err != nil || len(secrets.Entries) != 1 {
		t.Error(secrets, err)
	}
	if missing, err := ReadStack(root, "prod"); err != nil || missing.Exists || missing.File != "config/pulumi/Pulumi.prod.yaml" {
		t.Error(missing, err)
	}
	if err := os.Mkdir(filepath.Join(root, StackPath("directory")), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadStack(root, "directory"); err == nil || err.Error() != "config/pulumi/Pulumi.directory.yaml: is a directory" {
		t.Error(err)
	}
}

// FuzzParseStack looks for input that the reader cannot stand, and for entries
// that are lost on the way.
func FuzzParseStack(f *testing.F) {
	for _, seed := range []string{"", "config:\n  a:b: 1.30\n", "config: {a:b: [1, {secure: x}]}", "a: &x [*x]", "config:\n  a:b: |\n   x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseStack("f", data)
		if err == nil && len(file.Values()) != len(file.Entries) {
			t.Errorf("%d entries have %d keys", len(file.Entries), len(file.Values()))
		}
	})
}

// TestNearlyStackFile: a file of the same stack that is not read is named; one of another stack is not meant.
func TestNearlyStackFile(t *testing.T) {
	t.Parallel()
	for name, isMeant := range map[string]bool{
		"Pulumi.dev.yml": true, "pulumi.dev.yaml": true, "Pulumi.dev.YAML": true, "Pulumi.DEV.yaml": false, "Pulumi.dev2.yml": false,
		"Pulumi.dev.yaml.bak": false, "Pulumi.a.dev.yml": false,
	} {
		root := t.TempDir()
		file := filepath.Join(root, filepath.FromSlash(Directory), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("config: {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadStack(root, "dev")
		if (err != nil) != isMeant || isMeant && !strings.Contains(err.Error(), "config/pulumi/"+name+": is not read, because of its name; rename it to Pulumi.dev.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
