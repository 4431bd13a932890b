// Package graph draws a plan: boxes from left to right, each right of what it
// needs, joined by curves. It knows no projects, only nodes and edges.
//
// The layout is the layered one of Sugiyama, in four steps: every node gets the
// first layer behind all of its needs (layers.go); edges that pass over layers
// get a bend in each of them, and nodes and bends are ordered within their layer
// so that few edges cross (order.go); heights are chosen that keep the order and
// come close to those of the neighbours (place.go); and all of it is written as
// SVG (svg.go). It is deterministic.
package graph

import (
	"maps"
	"slices"
)

// Graph is what to draw.
type Graph struct {
	// Title describes the picture to those who cannot see it.
	Title string
	// Nodes come in an order in which every node follows those it needs.
	Nodes []Node
	Edges []Edge

	still bool // on a page without script
}

// Node is a box.
type Node struct {
	ID string
	// Title is the first line, Text the second.
	Title, Text string
	// State becomes a class of the box: succeeded, failed, skipped, cancelled,
	// interrupted; empty for none.
	State string
	// Link is where a click leads; empty for nowhere.
	Link string
	// Label describes the node to those who cannot see it.
	Label string
	// Marked nodes stand out.
	Marked bool
	// News are the marks of what has happened to it. Lines say more of it, to those who point at the box.
	News  []Mark
	Lines []string
}

// Mark is news of a node: the class of its box, which has a sign for it.
type Mark string

// The marks that nodes may have.
const (
	Changed  Mark = "changed"
	Drifted  Mark = "drifted"
	Affected Mark = "affected" // by one that has changed
)

// Sign returns the sign of a mark.
func (m Mark) Sign() string {
	return map[Mark]string{Changed: "±", Drifted: "≠", Affected: "→"}[m]
}

// Edge leads from a node to one that needs it. One that does not lead forwards
// in the order of the nodes is not drawn.
type Edge struct {
	From, To string
	// Dashed edges are weaker: the order matters, nothing is handed over.
	Dashed bool
	// Marked edges stand out.
	Marked bool
}

// manyNodes is the number of nodes from which edges that other edges imply are omitted, for
// a picture with all edges would be a tangle.
const manyNodes = 40

// link is an edge between indexes of nodes.
type link struct {
	from, to int
	implied  bool // there is another way from one to the other
	Edge
}

// links resolves the edges that can be drawn, each pair of nodes once; a solid
// edge wins over a dashed one.
func (g Graph) links() []link {
	index := make(map[string]int, len(g.Nodes))
	for i, n := range g.Nodes {
		index[n.ID] = i
	}
	type pair struct{ from, to int }
	known := map[pair]int{}
	var all []link
	for _, e := range g.Edges {
		from, ok1 := index[e.From]
		to, ok2 := index[e.To]
		if !ok1 || !ok2 || from >= to {
			continue
		}
		if at, twice := known[pair{from, to}]; twice {
			all[at].Dashed = all[at].Dashed && e.Dashed
			all[at].Marked = all[at].Marked || e.Marked
			continue
		}
		known[pair{from, to}] = len(all)
		all = append(all, link{from: from, to: to, Edge: e})
	}
	markImplied(len(g.Nodes), all)
	if len(g.Nodes) >= manyNodes {
		return slices.DeleteFunc(all, func(l link) bool { return l.implied && !l.Marked })
	}
	return all
}

// markImplied finds the edges that a longer way makes superfluous.
func markImplied(nodes int, all []link) {
	reach := make([]map[int]bool, nodes)
	for from := nodes - 1; from >= 0; from-- {
		reach[from] = map[int]bool{}
		for _, l := range all {
			if l.from == from {
				maps.Copy(reach[from], reach[l.to])
			}
		}
		for i, l := range all { // so far reach has what is more than one step away
			if l.from == from {
				all[i].implied = reach[from][l.to]
				reach[from][l.to] = true
			}
		}
	}
}
