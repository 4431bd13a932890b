package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	commandline "mara/runner/internal/cli"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
)

// docsDir is the directory of the documentation.
const docsDir = "../../../docs"

// TestReferenceIsFresh holds the generated documentation against the commands.
func TestReferenceIsFresh(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	all := pages(commands(d), "")
	files := map[string]string{"commands.md": markdown(all)}
	for file, text := range manuals(all) {
		files[filepath.Join("man", file)] = text
	}
	if *update {
		writeReference(t, files)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		got, err := os.ReadFile(filepath.Join(docsDir, file))
		if err != nil {
			t.Errorf("run `make golden`: %v", err)
		}
		if diff := cmp.Diff(string(got), files[file]); err == nil && diff != "" {
			t.Errorf("docs/%s is stale, run `make golden`:\n%s", file, diff)
		}
	}
	there, err := filepath.Glob(filepath.Join(docsDir, "man", "*"))
	if err != nil || len(there) != len(files)-1 {
		t.Errorf("docs/man has %d files, want %d, %v", len(there), len(files)-1, err)
	}
}

func writeReference(t *testing.T, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(docsDir, "man")); err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		path := filepath.Join(docsDir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryCommandIsExplained asks of every command what --help has to say, and
// types its examples.
func TestEveryCommandIsExplained(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	all := commands(d)
	var check func(p page)
	check = func(p page) {
		if len(p.parts) == 0 && (len(p.prose) == 0 || len(p.examples) == 0 || len(p.codes) == 0) {
			t.Errorf("%s: there are %d paragraphs, %d examples and %d exit codes", p.path, len(p.prose), len(p.examples), len(p.codes))
		}
		for _, example := range p.examples {
			words := strings.FieldsFunc(example, func(r rune) bool { return strings.ContainsRune(" \"()$", r) })
			from := slices.Index(words, cmd.Program)
			if from < 0 {
				continue // a line about something else
			}
			words = words[from+1:]
			for i, word := range words {
				if strings.ContainsAny(word, ">|&#") {
					words = words[:i]
					break
				}
			}
			if err := commandline.Arrange(all, words); err != nil {
				t.Errorf("%s: the example %q does not work: %v", p.path, example, err)
			}
		}
		for _, part := range p.parts {
			check(part)
		}
	}
	for _, p := range pages(all, "") {
		check(p)
	}
}

func TestRoffEscapes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		".runner is a directory": `\&.runner is a directory`,
		"'quoted'":               `\(aqquoted\(aq`,
		`a\b -o ~/x`:             `a\eb \-o \(ti/x`,
	} {
		if got := escapeRoff(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
