package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	commandline "mara/runner/internal/cli"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/help"
	"mara/runner/internal/testing/cmdtest"
)

// docsDir is the directory of the documentation.
const docsDir = "../../../docs"

// TestReferenceIsFresh compares the reference of the commands with the commands.
func TestReferenceIsFresh(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	file, want := filepath.Join(docsDir, "commands.md"), markdown(pages(commands(d), ""))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/commands.md is stale, run `make golden`:\n%s", diff)
	}
}

// TestManuals makes the manual pages. A release keeps them in the directory MANUALS.
func TestManuals(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	for file, text := range manuals(pages(commands(d), "")) {
		if !strings.HasPrefix(text, ".TH RUNNER") || !strings.Contains(text, "\n.SH SYNOPSIS\n") {
			t.Errorf("%s begins with %.40q, or has no synopsis", file, text)
		}
		if directory := os.Getenv("MANUALS"); directory != "" {
			if err := os.WriteFile(filepath.Join(directory, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFlagsAreExplained: each flag of each command says what it does.
func TestFlagsAreExplained(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	for _, flag := range cmd.AllFlags(commands(d)) {
		if help.FlagRow(flag).Right == "" {
			t.Errorf("%v is not explained", flag.Names())
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
