package discover_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/discover"
	"mara/runner/internal/core/references"
)

// state returns one with references to stacks.
func state(t *testing.T, references ...string) json.RawMessage {
	t.Helper()
	resources := []any{map[string]any{"type": "pulumi:pulumi:Stack"}}
	for _, name := range references {
		resources = append(resources, map[string]any{"type": "pulumi:pulumi:StackReference", "id": name, "inputs": map[string]any{"name": name}})
	}
	content, err := json.Marshal(map[string]any{"resources": resources})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func found(names ...string) []discover.Found {
	var all []discover.Found
	for _, name := range names {
		all = append(all, discover.Found{Project: references.Project{Name: name}, Path: name})
	}
	return all
}

// lines returns the projects as name | pattern | reads.
func lines(a discover.Adoption) []string {
	var all []string
	for _, p := range a.Projects {
		var reads []string
		for _, edge := range p.Reads {
			reads = append(reads, edge.Project)
		}
		all = append(all, strings.TrimRight(fmt.Sprintf("%s | %s | %s", p.Name, p.Stack, strings.Join(reads, " ")), " |"))
	}
	return all
}

// TestPatterns: the names of stacks tell the environments that most agree on.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stacks       map[string][]string
		environments []string
		want         []string
	}{
		"the same everywhere":      {map[string][]string{"a": {"dev", "prod"}, "b": {"dev"}}, []string{"dev", "prod"}, []string{"a", "b"}},
		"one with its name before": {map[string][]string{"a": {"dev", "prod"}, "b": {"b-dev", "b-prod"}}, []string{"dev", "prod"}, []string{"a", "b | b-{stack}"}},
		"each with its name":       {map[string][]string{"a": {"a-dev"}, "b": {"b-dev"}}, []string{"dev"}, []string{"a | a-{stack}", "b | b-{stack}"}},
		"its name behind":          {map[string][]string{"a": {"eu.dev-a", "us.dev-a"}, "b": {"eu.dev", "us.dev"}}, []string{"eu.dev", "us.dev"}, []string{"a | {stack}-a", "b"}},
		"names with hyphens":       {map[string][]string{"a": {"eu-dev", "us-dev"}, "b": {"eu-dev", "us-dev"}}, []string{"eu-dev", "us-dev"}, []string{"a", "b"}},
		"one project":              {map[string][]string{"a": {"a-dev", "a-prod"}}, []string{"a-dev", "a-prod"}, []string{"a"}},
		"none":                     {nil, []string{}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, states := []string{"a", "b"}, discover.States{}
			for project, stacks := range test.stacks {
				states[project] = map[string]json.RawMessage{}
				for _, stack := range stacks {
					states[project][stack] = state(t)
				}
			}
			a, err := discover.New(t.Context(), t.TempDir(), found(names[:len(test.want)]...), nil, states)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, lines(a)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.environments, a.Environments); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEdges: references in the states are the edges, as far as they stay in the
// environment.
func TestEdges(t *testing.T) {
	t.Parallel()
	states := discover.States{
		"net":  {"dev": state(t), "prod": state(t)},
		"db":   {"db-dev": state(t, "organization/net/dev"), "db-prod": state(t, "organization/net/prod"), "old": state(t)},
		"shop": {"dev": state(t, "organization/db/db-dev", "organization/net/prod", "acme/mail/dev", "other"), "prod": nil},
		"x":    {"dev": state(t, "organization/y/dev")},
		"y":    {"dev": state(t, "organization/x/dev")},
	}
	a, err := discover.New(t.Context(), t.TempDir(), found("shop", "db", "net", "x", "y"), nil, states)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"net", "db | db-{stack} | net", "shop |  | db", "y", "x |  | y"}, lines(a)); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"the stack old of db does not match the pattern db-{stack} of the project's other stacks, and belongs to no environment",
		"shop, stack dev, reads organization/net/prod, which belongs to another environment: this is not an edge",
		"shop reads acme/mail/dev, which is not a project here: it has to be deployed before",
		"2 groups of projects do not read each other: one mara.yaml runs all of them; for one group alone, `runner adopt DIR`",
		"y and x read each other, directly or through other projects; this edge is skipped: the state of dev has a reference to organization/x/dev",
	}
	if diff := cmp.Diff(want, a.Unsure); diff != "" {
		t.Error(diff)
	}
	text := a.Text()
	for _, want := range []string{"    # skipped, because it closes a cycle: x: the state of dev has", "    # net: the state of db-dev has a reference to organization/net/dev\n    reads: [net]\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestBrokenState(t *testing.T) {
	t.Parallel()
	_, err := discover.New(t.Context(), t.TempDir(), found("net"), nil, discover.States{"net": {"dev": json.RawMessage(`[]`)}})
	if err == nil || !strings.Contains(err.Error(), "reading the state of dev of net") {
		t.Errorf("got %v", err)
	}
}

// TestSources: where nothing is deployed, the sources tell, in every language.
func TestSources(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, content string) {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sources := map[string]string{
		"ts/index.ts":                    "import { StackReference } from '@pulumi/pulumi';\nconst net = new StackReference(`${org}/net/${stack}`);\n",
		"py/__main__.py":                 "import pulumi\nnet = pulumi.StackReference(f\"{org}/net/{stack}\")\n",
		"go/main.go":                     "package main\n\nvar _, err = pulumi.NewStackReference(ctx,\n\tfmt.Sprintf(\"%s/net/%s\", org, ctx.Stack()), nil)\n",
		"cs/Program.cs":                  "var net = new StackReference($\"{org}/net/{stack}\");\n",
		"yaml/Pulumi.yaml":               "name: yaml\nruntime: yaml\nresources:\n  n:\n    type: pulumi:pulumi:StackReference\n    properties:\n      name: ${pulumi.organization}/net/dev\n  m:\n    type: pulumi:pulumi:StackReference\n    properties: {name: org/ts/dev}\n",
		"dark/index.js":                  "const ref = new pulumi.StackReference(config.require('network'));\n",
		"dark/node_modules/p/index.js":   "new StackReference('o/net/dev')\n",
		"dark/inner/Pulumi.yaml":         "name: inner\nruntime: yaml\n",
		"dark/inner/index.ts":            "new StackReference('o/net/dev')\n",
		"net/Pulumi.yaml":                "name: net\nruntime: {name: yaml}\nbackend: {url: s3://states}\n",
		"template/Pulumi.yaml":           "name: ${PROJECT}\nruntime: yaml\n",
		"runs/Pulumi.yaml":               "name: run\nruntime: yaml\n",
		"twice/Pulumi.yaml":              "name: net\nruntime: yaml\n",
		"broken/Pulumi.yaml":             "runtime: yaml\n",
		"net/Pulumi.dev.yaml":            "config: {}\n", // of the two named net, this one has been used
		"weird/Pulumi.yaml":              "name: weird\nruntime: haskell\n",
		"other/Pulumi.yml":               "name: other\nruntime: yaml\n",
		".git/Pulumi.yaml":               "name: git\nruntime: yaml\n",
		"ts/node_modules/it/Pulumi.yaml": "name: it\nruntime: yaml\n",
	}
	for _, name := range []string{"ts", "py", "go", "cs", "dark"} {
		sources[name+"/Pulumi.yaml"] = "name: " + name + "\nruntime: nodejs\n"
	}
	for name, content := range sources {
		write(name, content)
	}
	all, refused, err := discover.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range refused {
		texts = append(texts, r.String())
	}
	if diff := cmp.Diff([]string{
		"broken is skipped: broken/Pulumi.yaml:1: name is missing",
		"other is skipped: rename Pulumi.yml to Pulumi.yaml",
		"runs is skipped: hooks of the run go by its name run; rename it to adopt it",
		"template is skipped: it is a template",
		"weird is skipped: its runtime haskell is none of Pulumi's: yaml, go, nodejs, python, dotnet, java, bun, mara",
		"twice is skipped: its name net is also the name of net",
	}, texts); diff != "" {
		t.Error(diff)
	}
	a, err := discover.New(t.Context(), root, all, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := lines(a)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"cs |  | net", "dark", "go |  | net", "inner |  | net", "net", "py |  | net", "ts |  | net", "yaml |  | net ts"}, got); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		"dark/index.js:1 makes a stack reference with a computed name; if it reads another project here, add that to reads",
	} {
		if !slices.Contains(a.Unsure, want) {
			t.Errorf("no %q in %q", want, a.Unsure)
		}
	}
}

// TestManyComputedNames: a library with many references has one line, a place alone has its own.
func TestManyComputedNames(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var library strings.Builder
	for i := range 5 {
		fmt.Fprintf(&library, "export const v%d = (k: string) => new StackReference(process.env[k]);\n", i)
	}
	const program = "import { v0, v1, v2, v3, v4 } from '../lib/refs';\nv0('a'); new StackReference(process.env.B);\n"
	for name, content := range map[string]string{
		"app/Pulumi.yaml": "name: app\nruntime: nodejs\n", "app/index.ts": program,
		"web/Pulumi.yaml": "name: web\nruntime: nodejs\n", "web/index.ts": "import * as r from '../lib/refs';\nconst all = [r.v0, r.v1, r.v2, r.v3, r.v4];\n",
		"lib/refs.ts": library.String(),
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := discover.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	a, err := discover.New(t.Context(), root, all, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, line := range a.Unsure {
		place, _, _ := strings.Cut(line, " makes ")
		file, _, _ := strings.Cut(place, ":")
		seen[file]++
	}
	for file, n := range seen {
		if n > 3 {
			t.Errorf("%d lines about %s: %q", n, file, a.Unsure)
		}
	}
	if len(seen) == 0 {
		t.Error("no doubts")
	}
}

// TestReadsWhatIsRefused: a reference to a project whose name two projects have is a doubt that names it.
func TestReadsWhatIsRefused(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{
		"one/Pulumi.yaml": "name: net\nruntime: yaml\n", "two/Pulumi.yaml": "name: net\nruntime: yaml\n",
		"app/Pulumi.yaml": "name: app\nruntime: yaml\nvariables: {x: {fn::stackReference: [organization/net/dev, id]}}\n",
		"web/Pulumi.yaml": "name: web\nruntime: nodejs\n", "web/index.ts": "const net = new StackReference(config.require(\"netStack\"));\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, refused, err := discover.Find(root)
	if err != nil || len(refused) != 2 {
		t.Fatal(refused, err)
	}
	a, err := discover.New(t.Context(), root, all, refused, nil)
	if err != nil || len(a.Projects) != 2 || len(a.Projects[0].Reads) > 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, want := range []string{"app reads net, which is not adopted: app/Pulumi.yaml:3",
		"web may read net, which is not adopted: web/index.ts:1: the configuration key netStack resembles its name"} {
		if !slices.ContainsFunc(a.Unsure, func(said string) bool { return strings.HasPrefix(said, want) }) {
			t.Errorf("no %q in %q", want, a.Unsure)
		}
	}
	if slices.ContainsFunc(a.Unsure, func(said string) bool { return strings.HasPrefix(said, "web/index.ts:1") }) {
		t.Errorf("a place has two doubts: %q", a.Unsure)
	}
}

// TestFromFiles: without access to the backend, stack files name environments and patterns; templates do not.
func TestFromFiles(t *testing.T) {
	t.Parallel()
	all := found("net", "shop")
	all[0].Files = []string{"infra.net.QA", "infra.net.CI", "infra.net.example"}
	all[1].Files = []string{"QA", "CI", "example"}
	a, err := discover.New(t.Context(), t.TempDir(), all, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Backend = "s3://acme"
	if diff := cmp.Diff([]string{"net | infra.net.{stack}", "shop"}, lines(a)); diff != "" {
		t.Error(diff)
	}
	want := "backend: s3://acme\nenvironments: [CI, QA] # from stack files, not from the backend: CI, QA\nprojects:\n"
	if text := a.Text(); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	all[1].Files = append(all[1].Files, "Production")
	states := discover.States{"net": {"infra.net.QA": state(t)}, "shop": {"QA": state(t)}}
	if a, err = discover.New(t.Context(), t.TempDir(), all, nil, states); err != nil {
		t.Fatal(err)
	}
	if want := "environments: [CI, Production, QA] # from stack files, not from the backend: CI, Production\n"; !strings.Contains(a.Text(), want) {
		t.Errorf("no %q in\n%s", want, a.Text())
	}
}

// TestGroups: projects that do not read each other may be several repositories in one.
func TestGroups(t *testing.T) {
	t.Parallel()
	states := discover.States{
		"a": {"dev": state(t)}, "b": {"dev": state(t, "organization/a/dev")},
		"c": {"dev": state(t)}, "d": {"dev": state(t, "organization/c/dev")}, "e": {"dev": state(t)},
	}
	a, err := discover.New(t.Context(), t.TempDir(), found("a", "b", "c", "d", "e"), nil, states)
	if err != nil || len(a.Unsure) != 1 || !strings.HasPrefix(a.Unsure[0], "2 groups of projects do not read each other") {
		t.Errorf("got %q, %v", a.Unsure, err)
	}
}
