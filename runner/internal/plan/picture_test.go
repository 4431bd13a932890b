package plan

import (
	"path/filepath"
	"strings"
	"testing"

	"mara/providers"
)

func TestDrawGolden(t *testing.T) {
	t.Parallel()
	linode, err := providers.ByName("linode")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []Format{SVG, HTML} {
		got, err := Draw(mustNew(t, linode), format)
		if err != nil {
			t.Fatal(err)
		}
		checkGolden(t, filepath.Join("testdata", "linode-up."+string(format)), got)
	}
}

func TestDrawShowsEveryStepAndEdge(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All() {
		plan := mustNew(t, p).Reverse()
		got, err := Draw(plan, SVG)
		if err != nil {
			t.Fatal(err)
		}
		edges := 0
		for _, s := range plan.Steps {
			edges += len(s.Needs())
			if !strings.Contains(got, ">"+s.Project.Name+"</text>") {
				t.Errorf("%s: %s is missing", p.Name, s.Project.Name)
			}
		}
		if n := strings.Count(got, `<path class="edge`); n != edges {
			t.Errorf("%s: %d edges, want %d", p.Name, n, edges)
		}
	}
}

func TestDrawKnowsPicturesOnly(t *testing.T) {
	t.Parallel()
	if _, err := Draw(Plan{}, Tree); err == nil || !strings.Contains(err.Error(), "known: svg, html") {
		t.Errorf("got %v", err)
	}
}
