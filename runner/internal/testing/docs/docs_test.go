package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/cli/help"
)

// repository is the directory of all.
const repository = "../../../.."

func pages(t *testing.T) []Page {
	t.Helper()
	all, err := Pages(repository)
	if err != nil || len(all) < 30 {
		t.Fatalf("there are %d pages, %v", len(all), err)
	}
	return all
}

func TestParse(t *testing.T) {
	t.Parallel()
	p := Parse("docs/x.md", strings.Join([]string{
		"# Is `x` *good*?", "See [that](y.md#a-b), ![a picture](x.svg) and `[no](link)`.", "", "<!-- run in: own -->", "```console", "$ runner plan", "1 project", "```",
		"<!-- not about this -->", "text", "```sh", "ls", "```", "## Is x good", "## [Linked](z.md) title",
	}, "\n"))
	want := []Block{
		{Page: "docs/x.md", Line: 5, Language: "console", Mark: "run in: own", Lines: []string{"$ runner plan", "1 project"}},
		{Page: "docs/x.md", Line: 11, Language: "sh", Lines: []string{"ls"}},
	}
	if diff := cmp.Diff(want, p.Blocks()); diff != "" {
		t.Error(diff)
	}
	if got := p.Blocks()[0].Typed(); !slices.Equal(got, []string{"runner plan"}) {
		t.Errorf("typed: %q", got)
	}
	if got := p.Anchors(); !slices.Equal(got, []string{"is-x-good", "is-x-good-1", "linked-title"}) {
		t.Errorf("anchors: %q", got)
	}
	var links, spans []string
	for _, line := range p.Prose() {
		links, spans = append(links, line.Links()...), append(spans, line.Spans()...)
	}
	if !slices.Equal(links, []string{"y.md#a-b", "x.svg", "z.md"}) || !slices.Equal(spans, []string{"x", "[no](link)"}) {
		t.Errorf("links: %q, spans: %q", links, spans)
	}
}

// TestLinks follows every link within the repository.
func TestLinks(t *testing.T) {
	t.Parallel()
	all, followed := pages(t), 0
	for _, p := range all {
		for _, line := range p.Prose() {
			for _, target := range line.Links() {
				if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
					continue
				}
				followed++
				if problem := follow(all, p, target); problem != "" {
					t.Errorf("%s:%d: %s: %s", p.Path, line.Number, target, problem)
				}
			}
		}
	}
	if followed < 100 {
		t.Errorf("only %d links were found", followed)
	}
	for target, want := range map[string]string{"nothing.md": "there is no such file", "README.md#nothing": "there is no such heading"} {
		if got := follow(all, Page{Path: "X.md"}, target); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

// follow says what is wrong with a link of a page, or nothing.
func follow(all []Page, from Page, target string) (problem string) {
	file, anchor, _ := strings.Cut(target, "#")
	to := from.Path
	if file != "" {
		to = path.Join(path.Dir(from.Path), file)
	}
	if _, err := os.Stat(filepath.Join(repository, to)); err != nil {
		return "there is no such file"
	}
	if anchor == "" {
		return ""
	}
	i := slices.IndexFunc(all, func(p Page) bool { return p.Path == to })
	if i < 0 || !slices.Contains(all[i].Anchors(), anchor) {
		return "there is no such heading"
	}
	return ""
}

// TestFiles: a block that shows a file of the repository shows the file as it is.
func TestFiles(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, page := range pages(t) {
		for _, b := range page.Blocks() {
			name, ok := strings.CutPrefix(b.Mark, "file: ")
			if !ok {
				continue
			}
			shown++
			content, err := os.ReadFile(filepath.Join(repository, name))
			if err != nil {
				t.Errorf("%s: %v", b.At(), err)
			}
			if diff := cmp.Diff(strings.TrimSuffix(string(content), "\n"), strings.Join(b.Lines, "\n")); diff != "" {
				t.Errorf("%s differs from %s: %s", b.At(), name, diff)
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows a file")
	}
}

// TestOneSentence says what the runner is, everywhere in the same words.
func TestOneSentence(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"README.md", "docs/commands.md", "runner/internal/cli/testdata/help.txt", "scripts/release/nfpm.yaml",
		"scripts/release/manifests.sh", "scripts/site/hugo.yaml",
	} {
		content, err := os.ReadFile(filepath.Join(repository, name))
		if err != nil || !strings.Contains(strings.ToLower(string(content)), strings.ToLower(help.About)) {
			t.Errorf("%s does not say %q, %v", name, help.About, err)
		}
	}
}

// TestBlocksAreMarked: every block says what language it is in, and every one that a
// reader is meant to type whether it is run by a test, or why not. Nothing that is to
// be typed stands outside of such a block.
func TestBlocksAreMarked(t *testing.T) {
	t.Parallel()
	run, reasons := 0, 0
	for _, p := range pages(t) {
		if p.Generated() {
			continue
		}
		begun := false
		for _, b := range p.Blocks() {
			if problem := markProblem(b, begun); problem != "" {
				t.Errorf("%s: %s", b.At(), problem)
			}
			if strings.HasPrefix(b.Mark, "run") {
				begun = true
				run++
			} else if b.Commands() {
				reasons++
			}
		}
		for _, line := range p.Prose() {
			if strings.HasPrefix(line.Text, "    ") && typed(line.Text) {
				t.Errorf("%s:%d: commands stand between fences: %s", p.Path, line.Number, line.Text)
			}
		}
	}
	if run < 30 || reasons > run {
		t.Errorf("%d blocks are run, %d are not", run, reasons)
	}
}

// TestMenuHasAllPages holds the menu of the site against the pages there are.
func TestMenuHasAllPages(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(repository, "scripts/site/data/nav.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var menu []struct{ Pages []string }
	if err := yaml.Unmarshal(text, &menu); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, part := range menu {
		named = append(named, part.Pages...)
	}
	var there []string
	for _, p := range pages(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(p.Path, "/README.md"), "docs/"), ".md")
		if p.Path != "README.md" { // the first page
			there = append(there, strings.ReplaceAll(strings.ToLower(name), "_", "-"))
		}
	}
	slices.Sort(named)
	slices.Sort(there)
	if diff := cmp.Diff(there, named); diff != "" {
		t.Errorf("scripts/site/data/nav.yaml names other pages (+) than there are (-):\n%s", diff)
	}
}

var (
	target   = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
	made     = regexp.MustCompile(`\bmake ([a-z0-9-]+)`)
	aFile    = regexp.MustCompile(`^(config|docs|examples|projects|providers|runner|scripts)/[\w/.-]*\w$`)
	aTest    = regexp.MustCompile(`^Test[A-Z]\w*`)
	declared = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestNamesAreRight: targets of make, files of the repository and tests that the
// documentation names are there. Of several tests it may name the beginning: TestX...
func TestNamesAreRight(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(repository, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, found := range target.FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, found[1])
	}
	tests, named := testNames(t), 0
	for _, p := range pages(t) {
		check := func(line int, text string) {
			for _, found := range made.FindAllStringSubmatch(text, -1) {
				if named++; !slices.Contains(targets, found[1]) {
					t.Errorf("%s:%d: there is no `make %s`", p.Path, line, found[1])
				}
			}
		}
		for _, b := range p.Blocks() {
			for i, typed := range b.Typed() {
				if b.Commands() {
					check(b.Line+1+i, typed)
				}
			}
		}
		for _, line := range p.Prose() {
			for _, span := range line.Spans() {
				check(line.Number, span)
				if _, err := os.Stat(filepath.Join(repository, span)); aFile.MatchString(span) && !strings.Contains(span, "NAME") && !ofUsers(span) {
					if named++; err != nil {
						t.Errorf("%s:%d: there is no file %s", p.Path, line.Number, span)
					}
				}
				if name := aTest.FindString(span); name != "" {
					more := strings.HasSuffix(span, "...")
					if named++; !slices.ContainsFunc(tests, func(test string) bool { return test == name || more && strings.HasPrefix(test, name) }) {
						t.Errorf("%s:%d: there is no test %s", p.Path, line.Number, span)
					}
				}
			}
		}
	}
	if named < 80 {
		t.Errorf("only %d names were found", named)
	}
}

// ofUsers says whether a path is one of a user's repository.
func ofUsers(path string) bool {
	return slices.ContainsFunc([]string{"config/pulumi", "config/layers", "config/environments", "config/rollout.yaml", "config/Pulumi"}, func(prefix string) bool {
		return strings.HasPrefix(path, prefix)
	})
}

// testNames lists the names of all tests.
func testNames(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "dist", ".runner"}, entry.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// typed says whether a line looks like something to type.
func typed(line string) bool {
	words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
	return len(words) > 1 && slices.Contains([]string{"runner", "make", "kubectl", "docker", "pulumi"}, words[0]) && words[1] != "="
}

// markProblem says what is wrong with the mark of a block; begun says that a block
// before it on the page has a directory to run in.
func markProblem(b Block, begun bool) string {
	reason, not := strings.CutPrefix(b.Mark, "not run: ")
	switch {
	case b.Language == "":
		return "the fence names no language"
	case !b.Commands() && slices.ContainsFunc(b.Lines, typed):
		return "it has commands, but its language is not sh or console"
	case !b.Commands():
		return ""
	case not && len(strings.Fields(reason)) > 1, strings.HasPrefix(b.Mark, "run in: "), b.Mark == "run" && begun:
		return ""
	case b.Mark == "run":
		return "no block before it says where it runs"
	}
	return "a comment before it has to say `run in: DIR`, `run`, or `not run: ` with the reason"
}

func TestMarkProblem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		block Block
		begun bool
		ok    bool
	}{
		{Block{Language: "sh", Mark: "run in: own"}, false, true},
		{Block{Language: "sh", Mark: "run"}, true, true},
		{Block{Language: "sh", Mark: "not run: needs an account"}, false, true},
		{Block{Language: "yaml", Lines: []string{"run: make it"}}, false, true},
		{Block{Language: "sh", Mark: "run"}, false, false},
		{Block{Language: "sh", Mark: "not run: "}, false, false},
		{Block{Language: "sh"}, true, false},
		{Block{}, false, false},
		{Block{Language: "text", Lines: []string{"runner up -s dev"}}, false, false},
		{Block{Language: "text", Lines: []string{"  $ make build"}}, false, false},
	} {
		if got := markProblem(test.block, test.begun); (got == "") != test.ok {
			t.Errorf("%+v, %t: %q", test.block, test.begun, got)
		}
	}
}
