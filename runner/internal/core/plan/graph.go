package plan

import (
	"fmt"
	"slices"
	"strings"
)

// grouped splits steps into runs of consecutive ones that are alike.
func grouped(steps []Step, alike func(a, b Step) bool) [][]Step {
	var groups [][]Step
	for i, step := range steps {
		if i == 0 || !alike(steps[i-1], step) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], step)
	}
	return groups
}

// language is how a language of graphs writes a plan.
type language struct {
	begin, end           string
	beginPhase, endPhase string // around the nodes of a phase; %[1]s is its name
	node                 func(s Step) string
	edge                 func(from, to Step, orderOnly bool) string
}

// draw draws the plan in a language, the edges of the first step first.
func (l language) draw(p Plan) string {
	var b strings.Builder
	b.WriteString(l.begin)
	for _, steps := range grouped(p.Steps, func(a, b Step) bool { return a.Phase == b.Phase }) {
		phase := steps[0].Phase
		if phase != "" {
			fmt.Fprintf(&b, l.beginPhase, phase)
		}
		for _, s := range steps {
			b.WriteString(l.node(s))
		}
		if phase != "" {
			b.WriteString(l.endPhase)
		}
	}
	index := indexOf(p.Steps)
	for _, s := range p.Steps {
		for _, name := range s.All() {
			b.WriteString(l.edge(p.Steps[index[name]], s, !slices.Contains(s.Reads, name)))
		}
	}
	return b.String() + l.end
}

// renderDOT draws the plan for Graphviz.
func renderDOT(p Plan) string {
	return language{
		begin: fmt.Sprintf("digraph %q {\n  label=%q;\n  labelloc=t;\n  node [shape=box, style=rounded];\n", p.Provider,
			treeTitle(p)),
		end:        "}\n",
		beginPhase: "  subgraph \"cluster_%[1]s\" {\n    label=%[1]q;\n",
		endPhase:   "  }\n",
		node:       func(s Step) string { return fmt.Sprintf("    %q [label=%q];\n", s.Project.Name, s.label("\n")) },
		edge: func(from, to Step, orderOnly bool) string {
			style := ""
			if orderOnly {
				style = " [style=dashed]"
			}
			return fmt.Sprintf("  %q -> %q%s;\n", from.Project.Name, to.Project.Name, style)
		},
	}.draw(p)
}

// renderMermaid draws the plan for Mermaid, as Markdown pages show it.
func renderMermaid(p Plan) string {
	return language{
		begin:      fmt.Sprintf("---\ntitle: %q\n---\nflowchart TD\n", treeTitle(p)),
		beginPhase: "  subgraph phase_%[1]s [%[1]s]\n",
		endPhase:   "  end\n",
		node:       func(s Step) string { return fmt.Sprintf("    p%d[\"%s\"]\n", s.Index, s.label("<br/>")) },
		edge: func(from, to Step, orderOnly bool) string {
			line := "-->"
			if orderOnly {
				line = "-.->"
			}
			return fmt.Sprintf("  p%d %s p%d\n", from.Index, line, to.Index)
		},
	}.draw(p)
}

// label returns the text of a node.
func (s Step) label(newline string) string {
	text := s.Project.Title + newline + s.Project.Name
	if hooks := s.hooks(); len(hooks) > 0 {
		text += newline + "hook " + strings.Join(hooks, ", ")
	}
	return text
}
