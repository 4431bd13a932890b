package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mara/runner/internal/testing/cmdtest"
)

// flagsOfOthers are those in texts that tell what to do with another program.
var flagsOfOthers = map[string]string{
	"create-namespace": "helm ", "version": "helm", "name": "kind ", "fetch-cert": "kubeseal ",
	"for": "kubectl ", "force-conflicts": "kubectl ", "server-side": "kubectl ", "overwrite": "kubectl ",
	"preserve-config": "pulumi ", "replace": "pulumi ",
}

// TestAdviceNamesFlagsThatExist: a message that advises a flag which no
// command has, as one once did, is worse than none.
func TestAdviceNamesFlagsThatExist(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	known := map[string]bool{"help": true, "help-all": true}
	for _, leaf := range leaves("", commands(d)) {
		for _, flag := range leaf.command.Flags {
			for _, name := range flag.Names() {
				known[name] = true
			}
		}
	}
	flags := regexp.MustCompile(`[^\w-]--([a-z][a-z-]+)`)
	met := 0
	for _, text := range textsBelow(t, "../../../runner", "../../../providers", "../../../projects", "../../../config") {
		for _, found := range flags.FindAllStringSubmatch(text, -1) {
			program, ofOther := flagsOfOthers[found[1]]
			if met++; !known[found[1]] && (!ofOther || !strings.Contains(text, program)) {
				t.Errorf("no command has the flag --%s: %q", found[1], text)
			}
		}
	}
	if met < 200 {
		t.Errorf("only %d flags are named in texts: the test does not read them", met)
	}
}

// TestAdviceNamesCommandsThatExist: a command in backticks is one, with flags that this command has.
func TestAdviceNamesCommandsThatExist(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	known, groups := map[string]map[string]bool{}, map[string]bool{"help": true}
	for _, leaf := range leaves("", commands(d)) {
		flags := map[string]bool{"help": true, "h": true}
		for _, flag := range leaf.command.Flags {
			for _, name := range flag.Names() {
				flags[name] = true
			}
		}
		known[leaf.path] = flags
		group, _, _ := strings.Cut(leaf.path, " ")
		groups[group] = true
	}
	advised, met := regexp.MustCompile("`runner ([a-z][^`%;|&]*)"), 0
	for _, text := range textsBelow(t, "../../../runner", "../../../providers", "../../../projects", "../../../config") {
		for _, found := range advised.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(found[1])
			flags, length := map[string]bool(nil), 0
			for i := range words {
				if of, ok := known[strings.Join(words[:i+1], " ")]; ok {
					flags, length = of, i+1
				}
			}
			switch met++; {
			case flags == nil && !groups[words[0]]:
				t.Errorf("runner %s is no command: %q", words[0], text)
			case flags == nil:
				continue // the rest of the command is in the next text
			}
			for _, word := range words[length:] {
				if word == "--" {
					break // what follows is for another program
				}
				name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
				if isFlag := strings.HasPrefix(word, "-") && name != "" && name[0] >= 'a' && name[0] <= 'z'; isFlag && !flags[name] {
					t.Errorf("runner %s has no flag %s: %q", strings.Join(words[:length], " "), word, text)
				}
			}
		}
	}
	if met < 150 {
		t.Errorf("only %d commands are named in texts: the test does not read them", met)
	}
}

// textsBelow returns the texts in the programs below directories, but for tests, and for
// style sheets, whose variables look like flags.
func textsBelow(t *testing.T, directories ...string) []string {
	t.Helper()
	var texts []string
	read := func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "guide" || strings.HasSuffix(entry.Name(), "test")) {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && !strings.Contains(text, "var(--") && !strings.Contains(text, ":root") {
					texts = append(texts, text)
				}
			}
			return true
		})
		return nil
	}
	for _, directory := range directories {
		if err := filepath.WalkDir(directory, read); err != nil {
			t.Fatal(err)
		}
	}
	return texts
}
