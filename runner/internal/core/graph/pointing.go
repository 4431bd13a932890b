package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// mostPointed is the number of nodes up to which a picture without script says which of them are related: that grows
// with the square.
const mostPointed = 60

// Pointing returns the style sheet that dims all but what a node needs and what needs it, while one points at the node
// or has the focus on it. Pictures with script have a function for that.
func (g Graph) Pointing() string {
	var b strings.Builder
	for i := range g.Nodes {
		if len(g.Nodes) <= mostPointed {
			fmt.Fprintf(&b, ".graph:has([data-n=\"%[1]d\"]:is(:hover,:focus-visible)) > [data-near]:not([data-near~=\"%[1]d\"]) { opacity: .18; }\n", i)
		}
	}
	return b.String()
}

// nearTo returns the attribute with the nodes that keep something while one points at them: a node, whose ends are
// equal, or the edge between two.
func (p *picture) nearTo(from, to int) string {
	var all []string
	for i := range p.near { // an edge that passes a node by is no part of its ways
		if p.near[i][from] && p.near[i][to] && (to <= i || from >= i) {
			all = append(all, strconv.Itoa(i))
		}
	}
	if all == nil {
		return ""
	}
	return ` data-near="` + strings.Join(all, " ") + `"`
}

// related returns for each node which nodes it needs, directly or not, which need it, and itself.
func (g Graph) related() [][]bool {
	near := make([][]bool, len(g.Nodes))
	for i := range near {
		near[i] = make([]bool, len(g.Nodes))
		near[i][i] = true
	}
	links := g.links()
	for i := range g.Nodes { // what it needs comes before it
		for _, l := range links {
			if l.to == i {
				for j := range i {
					near[i][j] = near[i][j] || near[l.from][j]
				}
			}
		}
	}
	for i := range near {
		for j := range i {
			near[j][i] = near[i][j]
		}
	}
	return near
}
