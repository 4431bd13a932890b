package graph_test

import (
	"strings"
	"testing"

	"mara/runner/internal/core/graph"
)

// Pointing at a box leaves what it needs and what needs it, and no edge that only passes it by.
func TestPointing(t *testing.T) {
	t.Parallel()
	g := graph.Graph{
		Nodes: []graph.Node{{ID: "net"}, {ID: "db"}, {ID: "shop", News: []graph.Mark{graph.Changed, graph.Drifted}, Lines: []string{"size, now <2>"}}, {ID: "mail"}},
		Edges: []graph.Edge{{From: "net", To: "db"}, {From: "db", To: "shop"}, {From: "net", To: "shop"}, {From: "net", To: "mail"}},
	}
	svg := g.File()
	for _, want := range []string{
		`data-n="0" data-near="0 1 2 3"`, `data-n="1" data-near="0 1 2"`, `data-n="3" data-near="0 3"`,
		`data-from="1" data-to="2" data-near="0 1 2"`, `data-from="0" data-to="2" data-near="0 2"`,
		`.graph:has([data-n="3"]:is(:hover,:focus-visible)) > [data-near]:not([data-near~="3"])`,
		`class="node changed drifted"`, `>±≠</text>`, "<title>\nsize, now &lt;2&gt;</title>",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	if live := g.SVG(); strings.Contains(live, "data-near") || !strings.Contains(live, `data-from="0" data-to="2"`) {
		t.Errorf("a page with script finds out what is related: %s", live)
	}
	if rules := random(mostStill+1, 1).Pointing(); rules != "" {
		t.Errorf("rules for many nodes: %d bytes", len(rules))
	}
}

// mostStill is how many nodes a picture without script relates.
const mostStill = 60
