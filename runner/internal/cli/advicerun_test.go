package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// notHere are commands that messages advise, and that need what a test of one process does not have.
var notHere = map[string]string{
	"web": "serves", "start": "serves, or asks", "login": "asks a server", "demo": "needs the engine; end-to-end tests run it", "mirror sync": "copies from registries",
}

// asks is what commands say where there is no terminal to ask at, and what no placeholder makes up.
var asks = []string{"this is not a terminal", "missing: --stack NAME", "plan.json: no such file", "which is not an availability zone"}

// examples stand for the words that messages leave to their readers.
var examples = strings.NewReplacer("PROJECT", "logstore", "PROVIDER", "kind", "STACK", "dev", "REGISTRY", "localhost:1", "DIR", "config", "FILE", "plan.json", "VALUE", "1",
	"-s NAME", "-s dev", "-p NAME", "-p kind", "NAME", "dev")

// advised matches a whole command in a message.
var advised = regexp.MustCompile("`runner ([a-z][^`%]*)`")

// TestAdviceWorks types what messages tell their readers to type, in a root with one environment: in the texts of the programs, and
// in those that the tests of this package expect of them. A command without anything behind it may be its name alone; all others
// have to be ones that the command line accepts.
func TestAdviceWorks(t *testing.T) {
	t.Parallel()
	all := map[string]string{}
	for _, text := range append(textsBelow(t, "../../../runner", "../../../providers", "../../../projects", "../../../config"), expectedTexts(t)...) {
		for _, found := range advised.FindAllStringSubmatch(text, -1) {
			all[found[1]] = text
		}
	}
	d, _, _ := cmdtest.Deps(t)
	var paths []string
	for _, leaf := range leaves("", commands(d)) {
		paths = append(paths, leaf.path)
	}
	ran := 0
	for _, command := range slices.Sorted(maps.Keys(all)) {
		args := strings.Fields(examples.Replace(command))
		isHere := func(other string) bool { return command == other || strings.HasPrefix(command, other+" ") }
		if slices.ContainsFunc(slices.Collect(maps.Keys(notHere)), isHere) || slices.Contains(args, ">") {
			continue
		}
		ran++
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			root := cmdtest.Root(t, map[string]string{"environment": "PULUMI_STACK=dev\n", "Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
			cmdtest.WriteFile(t, filepath.Join(root, "config/environments/dev.yaml"), "values: {runner: {provider: kind}}\n")
			d, stdout, stderr := cmdtest.Deps(t)
			d.Dir = root
			code := wire.Run(t.Context(), d, args)
			isAsked := slices.ContainsFunc(asks, func(text string) bool { return strings.Contains(stderr.String(), text) })
			if code == cmd.ExitUsage && !isAsked && !slices.Contains(paths, command) {
				t.Errorf("it is refused as wrong usage, and a message advises it: %q\n%s%s", all[command], stdout, stderr)
			}
		})
	}
	if ran < 60 {
		t.Errorf("only %d commands are advised: the test does not read the texts", ran)
	}
}

// expectedTexts returns the texts in the tests of this package that look like messages with advice.
func expectedTexts(t *testing.T) (texts []string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(text, "hint: ") {
					texts = append(texts, text)
				}
			}
			return true
		})
	}
	return texts
}
