package plan

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/providers"
	"mara/runner/internal/machine/typeset"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestRenderGolden(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All() {
		up := mustNew(t, p)
		up.Estimates = up.Declared()
		for _, plan := range []Plan{up, up.Reverse()} {
			for _, format := range []Format{Tree, Table, JSON, DOT, Mermaid} {
				name := p.Name + "-" + string(plan.operation()) + "." + string(format)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					got, err := Render(plan, format, 0)
					if err != nil {
						t.Fatal(err)
					}
					checkGolden(t, filepath.Join("testdata", name), got)
				})
			}
		}
	}
}

// TestRenderFits: on a terminal nothing is wider than it.
func TestRenderFits(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All() {
		up := mustNew(t, p)
		up.Estimates = up.Declared()
		for _, width := range []int{80, 120} {
			for _, format := range []Format{Tree, Table} {
				got, err := Render(up, format, width)
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(got) {
					if n := typeset.Cells(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%s, %s: %d cells at %d: %s", p.Name, format, n, width, line)
					}
				}
				if p.Name == "aws" && width == 80 {
					checkGolden(t, filepath.Join("testdata", "aws-up-80."+string(format)), got)
				}
			}
		}
	}
}

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestRenderTreeEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   []string
		want string
	}{
		{"nothing", nil, "test (Test): 0 projects, in the order of up\n"},
		{"one", []string{"a"}, "test (Test): 1 project, in the order of up\n└── group\n    └── a [A]\n"},
		{"a phase begins a group", []string{"a", "secrets a"}, "test (Test): 2 projects, in the order of up\n" +
			"┌── group                  phase infrastructure\n│   └── a [A]\n" +
			"└── group                  phase secrets\n    └── secrets [SECRETS]  reads a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := renderTree(mustNew(t, provider(tt.in...)), 0)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRenderJSONHasNoNull(t *testing.T) {
	t.Parallel()
	for _, in := range [][]string{nil, {"a"}} {
		got, err := Render(mustNew(t, provider(in...)), JSON, 0)
		if err != nil {
			t.Fatal(err)
		}
		var document Document
		if err := json.Unmarshal([]byte(got), &document); err != nil || document.Version != 1 || len(document.Steps) != len(in) {
			t.Errorf("got %+v, %v", document, err)
		}
		if strings.Contains(got, "null") {
			t.Errorf("got %s", got)
		}
	}
}

func TestRenderUnknownFormat(t *testing.T) {
	t.Parallel()
	if _, err := Render(Plan{}, "png", 0); err == nil || !strings.Contains(err.Error(), "tree, table, json, dot, mermaid, svg, html") {
		t.Errorf("got %v", err)
	}
}

// TestRenderTreeOfRoot: projects in the root of a repository are not drawn in a directory called ".".
func TestRenderTreeOfRoot(t *testing.T) {
	t.Parallel()
	step := func(name string, phase Phase) Step {
		return Step{Project: model.Project{Name: name, Title: name, Path: name}, Phase: phase}
	}
	for _, test := range []struct {
		steps []Step
		want  string
	}{
		{[]Step{step("net", "")}, "└── net [net]\n"},
		{[]Step{step("net", ""), step("db", ""), step("app", "")}, "┌── net [net]\n├── db [db]\n└── app [app]\n"},
		{[]Step{step("net", "one"), step("app", "two")}, "┌── (the root)     phase one\n│   └── net [net]\n└── (the root)     phase two\n    └── app [app]\n"},
	} {
		_, tree, _ := strings.Cut(renderTree(Plan{Steps: test.steps, Provider: model.OwnProvider}, 0), "\n")
		if diff := cmp.Diff(test.want, tree); diff != "" {
			t.Error(diff)
		}
	}
}
