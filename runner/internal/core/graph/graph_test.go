package graph_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/graph"
)

var update = flag.Bool("update", false, "write the golden files")

// small returns the end of a plan, with every kind of edge.
func small() graph.Graph {
	return graph.Graph{
		Title: "up of kind",
		Nodes: []graph.Node{
			{ID: "cluster", Title: "Cluster", Text: "succeeded in 3s", State: "succeeded", Link: "#cluster", Marked: true},
			{ID: "build", Title: "Image Build", Text: "failed", State: "failed"},
			{ID: "config", Title: `<Config> & "co"`, Text: "skipped", State: "skipped", Label: "Config was skipped"},
			{ID: "bank", Title: "Bank", Text: "", Marked: true},
		},
		Edges: []graph.Edge{
			{From: "cluster", To: "config", Marked: true},
			{From: "cluster", To: "bank", Dashed: true}, // implied
			{From: "config", To: "bank", Dashed: true},
			{From: "config", To: "bank"},      // the stronger one
			{From: "build", To: "bank"},       // passes a layer or moves next to it
			{From: "bank", To: "cluster"},     // backwards
			{From: "stranger", To: "cluster"}, // unknown
		},
	}
}

func TestSVGGolden(t *testing.T) {
	t.Parallel()
	const golden = "testdata/small.svg"
	got := small().File()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// random returns a graph in which nodes need some of the nodes before them.
func random(nodes int, seed uint64) graph.Graph {
	r := rand.New(rand.NewPCG(seed, seed))
	g := graph.Graph{Title: "random"}
	for i := range nodes {
		g.Nodes = append(g.Nodes, graph.Node{ID: fmt.Sprint(i), Title: fmt.Sprintf("Service %d", i), Text: strings.Repeat("x", r.IntN(20))})
		for range r.IntN(4) {
			if i > 0 {
				g.Edges = append(g.Edges, graph.Edge{From: fmt.Sprint(r.IntN(i)), To: fmt.Sprint(i), Dashed: r.IntN(3) == 0})
			}
		}
	}
	return g
}

// box is a drawn node.
type box struct{ x, y, w, h float64 }

// read parses a picture: the boxes by title of the node, and its size.
func read(t *testing.T, svg string) (boxes []box, width, height float64, paths int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return boxes, width, height, paths
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attr := map[string]string{}
		for _, a := range start.Attr {
			attr[a.Name.Local] = a.Value
		}
		number := func(name string) float64 {
			var f float64
			if _, err := fmt.Sscan(attr[name], &f); err != nil {
				t.Fatalf("%s: %s=%q", start.Name.Local, name, attr[name])
			}
			return f
		}
		switch {
		case start.Name.Local == "svg":
			width, height = number("width"), number("height")
		case attr["class"] == "box":
			boxes = append(boxes, box{number("x"), number("y"), number("width"), number("height")})
		case strings.HasPrefix(attr["class"], "edge"):
			paths++
		}
	}
}

func TestBoxesNeverOverlapNorLeaveThePicture(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		g := random(int(seed)*7, seed)
		boxes, width, height, _ := read(t, g.SVG())
		if len(boxes) != len(g.Nodes) {
			t.Fatalf("seed %d: %d boxes for %d nodes", seed, len(boxes), len(g.Nodes))
		}
		for i, a := range boxes {
			if a.x < 0 || a.y < 0 || a.x+a.w > width || a.y+a.h > height {
				t.Errorf("seed %d: box %d leaves the picture: %+v in %vx%v", seed, i, a, width, height)
			}
			for j, b := range boxes[:i] {
				if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
					t.Errorf("seed %d: boxes %d and %d overlap: %+v %+v", seed, j, i, b, a)
				}
			}
		}
	}
}

func TestEverythingLeadsToTheRight(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		g := random(35, seed)
		boxes, _, _, _ := read(t, g.SVG())
		at := map[string]int{}
		for i, n := range g.Nodes {
			at[n.ID] = i
		}
		for _, e := range g.Edges {
			from, to := boxes[at[e.From]], boxes[at[e.To]]
			if from.x+from.w >= to.x {
				t.Errorf("seed %d: %s is not left of %s", seed, e.From, e.To)
			}
		}
	}
}

func TestImpliedEdgesGoWhenThereAreMany(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[int]int{10: 9 + 8, 60: 59} {
		g := graph.Graph{}
		for i := range nodes {
			g.Nodes = append(g.Nodes, graph.Node{ID: fmt.Sprint(i)})
			for _, back := range []int{1, 2} {
				if i >= back {
					g.Edges = append(g.Edges, graph.Edge{From: fmt.Sprint(i - back), To: fmt.Sprint(i)})
				}
			}
		}
		if _, _, _, paths := read(t, g.SVG()); paths != want {
			t.Errorf("%d nodes: %d edges, want %d", nodes, paths, want)
		}
	}
}

func TestAChainIsStraight(t *testing.T) {
	t.Parallel()
	g := graph.Graph{Nodes: []graph.Node{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Edges: []graph.Edge{{From: "a", To: "b"}, {From: "b", To: "c"}}}
	if svg := g.SVG(); strings.Contains(svg, "C") {
		t.Errorf("a curve where a line would do:\n%s", svg)
	}
}

func TestSameGraphSamePicture(t *testing.T) {
	t.Parallel()
	first, second := random(80, 1).SVG(), random(80, 1).SVG()
	if first != second {
		t.Error("two pictures of the same graph differ")
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	if _, width, height, _ := read(t, graph.Graph{}.File()); width <= 0 || height <= 0 {
		t.Errorf("size %vx%v", width, height)
	}
}

func BenchmarkSVG(b *testing.B) {
	for _, nodes := range []int{15, 100, 500} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			g := random(nodes, 1)
			for b.Loop() {
				g.SVG()
			}
		})
	}
}
