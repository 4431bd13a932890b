package plan

import (
	"path/filepath"
	"strings"
	"testing"

	"mara/providers"
)

func TestPictureGolden(t *testing.T) {
	t.Parallel()
	linode, err := providers.ByName("linode")
	if err != nil {
		t.Fatal(err)
	}
	plan := mustNew(t, linode)
	plan.Estimates = plan.Declared()
	for _, format := range []Format{SVG, HTML} {
		got, err := Render(plan, format, 0)
		if err != nil {
			t.Fatal(err)
		}
		checkGolden(t, filepath.Join("testdata", "linode-up."+string(format)), got)
	}
}

func TestPictureShowsEveryStepAndEdge(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All() {
		plan := mustNew(t, p).Reverse()
		got, err := Render(plan, SVG, 0)
		if err != nil {
			t.Fatal(err)
		}
		edges := 0
		for _, s := range plan.Steps {
			edges += len(s.All())
			if !strings.Contains(got, ">"+s.Project.Name+"</text>") {
				t.Errorf("%s: %s is missing", p.Name, s.Project.Name)
			}
		}
		if n := strings.Count(got, `<path class="edge`); n != edges {
			t.Errorf("%s: %d edges, want %d", p.Name, n, edges)
		}
	}
}

func TestPictureMarksTheCriticalPath(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All() {
		plan := mustNew(t, p)
		if n := markedNodes(t, plan); n != 0 {
			t.Errorf("%s: %d boxes are marked although their durations are unknown", p.Name, n)
		}
		plan.Estimates = plan.Declared()
		if got, want := markedNodes(t, plan), len(plan.CriticalPath(plan.Estimates).Projects); got != want {
			t.Errorf("%s: %d boxes are marked, want %d", p.Name, got, want)
		}
	}
}

func markedNodes(t *testing.T, p Plan) int {
	t.Helper()
	text, err := Render(p, SVG, 0)
	if err != nil {
		t.Fatal(err)
	}
	if edges, nodes := strings.Count(text, `class="edge marked"`)+strings.Count(text, `class="edge dashed marked"`), strings.Count(text, `class="node marked"`); nodes > 0 && edges != nodes-1 {
		t.Errorf("%d boxes are marked, and %d edges", nodes, edges)
	}
	return strings.Count(text, `class="node marked"`)
}
