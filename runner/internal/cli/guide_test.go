package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	commandline "mara/runner/internal/cli"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/guide"
	"mara/runner/internal/testing/cmdtest"
)

// TestForeignCommands: a command of another tool has a hint that can be typed, or it is one of ours.
func TestForeignCommands(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	all := commands(d)
	for _, f := range slices.Concat(guide.Pulumi(), guide.Terragrunt()) {
		if f.Here != "" {
			if err := commandline.Arrange(all, strings.Fields(f.Here)); err != nil {
				t.Errorf("%s: the hint %q does not work: %v", f.Typed, f.Here, err)
			}
		}
		for typed := range strings.SplitSeq(f.Typed, ", ") {
			words := strings.Fields(typed)
			first, known := cmd.FindCommand(all, words[0])
			if known && (len(words) == 1 || len(first.Subcommands) == 0 || slices.Contains(cmd.CommandNames(first.Subcommands), words[1])) {
				continue
			}
			err := commandline.Arrange(all, words)
			if want := "here that is `runner " + f.Here + "`"; err == nil || f.Here != "" && !strings.Contains(err.Error(), want) ||
				f.Here == "" && !strings.Contains(err.Error(), f.Says) {
				t.Errorf("%s: %v", typed, err)
			}
		}
	}
	for typed, want := range map[string]string{
		"stack init dev": "runner up -s NAME --new", "run-all plan": "runner preview", "run plan": "runner preview",
		"run-all": "runner up", "stack select dev": "-s NAME", "deploy": "runner up", "synth": "runner render",
	} {
		if got := guide.Command(cmd.CommandNames(all), strings.Fields(typed)); !strings.Contains(got, want) {
			t.Errorf("%s: %q", typed, got)
		}
	}
	if got := guide.Command([]string{"up"}, []string{"dev"}); got != "" {
		t.Errorf("a command of a feature that is not there is advised: %q", got)
	}
}

// TestForeignFlags: a flag of another tool has a hint, which names no flag that is not there.
func TestForeignFlags(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	all := commands(d)
	flags := cmd.AllFlags(all)
	quoted := regexp.MustCompile("`runner pulumi [^`]*`")
	for _, f := range slices.Concat(guide.PulumiFlags(), guide.TerragruntFlags()) {
		for _, flag := range regexp.MustCompile(`(?:^|\s)(--?[A-Za-z][a-z-]*)`).FindAllStringSubmatch(quoted.ReplaceAllString(f.Says, ""), -1) {
			if _, ok := cmd.FindFlag(flags, strings.TrimLeft(flag[1], "-")); !ok {
				t.Errorf("%s: there is no flag %s", f.Typed, flag[1])
			}
		}
		for typed := range strings.SplitSeq(f.Typed, ", ") {
			err := commandline.Arrange(all, []string{"version", typed})
			if err == nil || !strings.Contains(err.Error(), f.Says) && !strings.Contains(err.Error(), "needs a value") {
				t.Errorf("%s: %v", typed, err)
			}
		}
	}
}

// TestRecipesCanBeTyped: the commands of the recipes are commands of ours, with their flags, and each word finds one recipe.
func TestRecipesCanBeTyped(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	all := commands(d)
	taken := map[string]string{}
	for _, r := range guide.Recipes() {
		for line := range strings.SplitSeq(r.Shell, "\n") {
			words := strings.Fields(line)
			if i := slices.IndexFunc(words, func(word string) bool { return word == ">" }); i >= 0 {
				words = words[:i]
			}
			if len(words) > 0 && words[0] == cmd.Program {
				if err := commandline.Arrange(all, words[1:]); err != nil {
					t.Errorf("%s: %s: %v", r.Title, line, err)
				}
			}
		}
		var lines map[string]any
		if err := yaml.Unmarshal([]byte(r.YAML), &lines); err != nil {
			t.Errorf("%s: %v", r.Title, err)
		}
		if _, isCommand := cmd.FindCommand(all, r.Words[0]); isCommand {
			t.Errorf("`help %s` explains a command, not %q", r.Words[0], r.Title)
		}
		for _, word := range r.Words {
			if taken[word] != "" || word != strings.ToLower(word) {
				t.Errorf("%q finds %q and %q", word, taken[word], r.Title)
			}
			taken[word] = r.Title
		}
	}
}

// TestGuidesAreFresh compares pages of the documentation with the tables that error messages and the help are made from.
func TestGuidesAreFresh(t *testing.T) {
	t.Parallel()
	for page, tables := range map[string][]string{
		"if-you-know-pulumi.md":     {guide.CommandTable(guide.Pulumi()), guide.FlagTable(guide.PulumiFlags())},
		"if-you-know-terragrunt.md": {guide.CommandTable(guide.Terragrunt()), guide.FlagTable(guide.TerragruntFlags())},
		"recipes.md":                nil,
	} {
		file := filepath.Join(docsDir, page)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := guide.RecipesPage()
		if tables != nil {
			want = withTables(t, page, string(content), tables)
		}
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, string(content)); diff != "" {
			t.Errorf("docs/%s is stale, run `make golden`:\n%s", page, diff)
		}
	}
}

// withTables returns a page with tables in place of those between its marks.
func withTables(t *testing.T, page, text string, tables []string) string {
	t.Helper()
	const begin, end = "<!-- table -->\n", "<!-- end -->\n"
	parts := strings.Split(text, begin)
	if len(parts) != len(tables)+1 {
		t.Fatalf("%s has %d marks for tables, want %d", page, len(parts)-1, len(tables))
	}
	for i, table := range tables {
		_, after, ok := strings.Cut(parts[i+1], end)
		if !ok {
			t.Fatalf("%s: the end of a table is missing", page)
		}
		parts[i+1] = table + end + after
	}
	return strings.Join(parts, begin)
}
