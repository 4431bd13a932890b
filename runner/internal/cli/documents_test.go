package cli_test

import (
	"slices"
	"strings"
	"testing"

	commandline "mara/runner/internal/cli"

	"github.com/google/shlex"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/docs"
)

// TestDocumentsNameWhatThereIs types every command that the documentation shows, in
// blocks and in the text: its commands and flags have to exist.
func TestDocumentsNameWhatThereIs(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	all := commands(d)
	pages, err := docs.Pages("../../..")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	try := func(at, text string, ways ...func([]string) []string) {
		for _, words := range calls(text) {
			tried++
			err := commandline.Arrange(all, words)
			for _, way := range ways {
				if err != nil && !slices.Contains(words, "COMMAND") {
					err = commandline.Arrange(all, way(words))
				}
			}
			if err != nil && !slices.Contains(words, "COMMAND") {
				t.Errorf("%s: `%s` does not work: %v", at, text, err)
			}
		}
	}
	// The text names commands with a flag and no value, and flags without a command.
	withValue := func(words []string) []string { return append(slices.Clone(words), "VALUE") }
	withCommand := func(words []string) []string { return append([]string{"up"}, words...) }
	both := func(words []string) []string { return withCommand(withValue(words)) }
	for _, page := range pages {
		for _, block := range page.Blocks() {
			if !block.Commands() {
				continue
			}
			for _, line := range block.Typed() {
				try(block.At(), line)
			}
		}
		for _, line := range page.Prose() {
			for _, span := range line.Spans() {
				if strings.HasPrefix(span, cmd.Program+" ") {
					try(docs.Block{Page: page.Path, Line: line.Number}.At(), span, withValue, withCommand, both)
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d commands were found", tried)
	}
}

// calls returns the arguments of each call of the runner in a line of a shell.
func calls(line string) [][]string {
	line = strings.NewReplacer(`"$(`, " ( ", `)"`, " ) ", "$(", " ( ", "`", " ").Replace(line)
	words, err := shlex.Split(line) // knows quotes and comments
	if err != nil {
		return nil // quotes that end in another line: text of a document
	}
	var found [][]string
	for {
		from := slices.Index(words, cmd.Program)
		if from < 0 {
			return found
		}
		words = words[from+1:]
		end := slices.IndexFunc(words, func(word string) bool {
			return strings.ContainsAny(word[:1], "|&>;)<") || slices.Contains([]string{"2>", "..."}, word)
		})
		if end < 0 {
			end = len(words)
		}
		call := slices.Clone(words[:end])
		for i, word := range call {
			call[i] = strings.TrimRight(word, ";)")
		}
		if end > 0 {
			found = append(found, call)
		}
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][][]string{
		`runner up -s "a b" --yes  # and runner down`:  {{"up", "-s", "a b", "--yes"}},
		`eval "$(runner env -s dev)"`:                  {{"env", "-s", "dev"}},
		`runner init x && cd x; runner plan > y`:       {{"init", "x"}, {"plan"}},
		`echo x | runner secrets set k -s dev || true`: {{"secrets", "set", "k", "-s", "dev"}},
		`  case "$1" in it's`:                          nil,
	} {
		got := calls(line)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
