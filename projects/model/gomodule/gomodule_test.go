package gomodule_test

import (
	"os"
	"path/filepath"
	"testing"

	"mara/projects/model/gomodule"
)

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	module, alone := t.TempDir(), t.TempDir()
	put(t, filepath.Join(module, "go.mod"), "module example.com/program\n")
	put(t, filepath.Join(module, "cmd", "x", "main.go"), "package main\n")
	for from, want := range map[string]string{
		module: module, filepath.Join(module, "cmd", "x"): module, filepath.Join(module, "cmd", "x", "main.go"): module, alone: alone,
	} {
		if got := gomodule.Of(from); got != want {
			t.Errorf("%s belongs to %s, want %s", from, got, want)
		}
	}
}

func TestUsesOthers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, content string
		want          bool
	}{
		"pinned":                 {"go.mod", "module a\n\nreplace b => b.example/fork v1.0.0\n", false},
		"a directory beside":     {"go.mod", "module a\n\nreplace b => ../b\n", true},
		"a directory by path":    {"go.mod", "module a\n\nreplace b => /b\n", true},
		"a directory in quotes":  {"go.mod", "module a\n\nreplace b => \"../b\"\n", true},
		"a directory in a block": {"go.mod", "module a\n\nreplace (\n\tb v1.0.0 =>   `../b`\n)\n", true},
		"only a comment":         {"go.mod", "module a\n\n// replace b => ../b\n", false},
		"not readable":           {"go.mod", "module a\n\nreplace b =>\n", true},
		"a workspace":            {"go.work", "go 1.26\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			above := t.TempDir()
			module := filepath.Join(above, "module")
			put(t, filepath.Join(module, "go.mod"), "module a\n")
			dir := module
			if test.file == "go.work" {
				dir = above
			}
			put(t, filepath.Join(dir, test.file), test.content)
			if got := gomodule.UsesOthers(module); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}
