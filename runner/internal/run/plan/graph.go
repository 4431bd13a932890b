package plan

import (
	"fmt"
	"slices"
	"strings"
)

// arrow is an edge of the drawn graph, in the direction of the run.
type arrow struct {
	from, to  int  // indexes of steps
	orderOnly bool // drawn with dashes
}

// arrows lists the edges, those of the first step first.
func arrows(p Plan) []arrow {
	index := indexOf(p.Steps)
	var all []arrow
	for i, s := range p.Steps {
		for _, name := range s.All() {
			all = append(all, arrow{from: index[name], to: i, orderOnly: !slices.Contains(s.Reads, name)})
		}
	}
	return all
}

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

// phases returns the steps of each phase that has some, in the order of the plan.
func phases(p Plan) [][]Step {
	return grouped(p.Steps, func(a, b Step) bool { return a.Phase == b.Phase })
}

// renderDOT draws the plan for Graphviz.
func renderDOT(p Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  label=%q;\n  labelloc=t;\n  node [shape=box, style=rounded];\n", p.Provider,
		treeTitle(p))
	for _, steps := range phases(p) {
		phase := steps[0].Phase
		if phase != "" {
			fmt.Fprintf(&b, "  subgraph %q {\n    label=%q;\n", "cluster_"+string(phase), phase)
		}
		for _, s := range steps {
			fmt.Fprintf(&b, "    %q [label=%q];\n", s.Project.Name, s.label("\n"))
		}
		if phase != "" {
			b.WriteString("  }\n")
		}
	}
	for _, a := range arrows(p) {
		style := ""
		if a.orderOnly {
			style = " [style=dashed]"
		}
		fmt.Fprintf(&b, "  %q -> %q%s;\n", p.Steps[a.from].Project.Name, p.Steps[a.to].Project.Name, style)
	}
	b.WriteString("}\n")
	return b.String()
}

// renderMermaid draws the plan for Mermaid, as Markdown pages show it.
func renderMermaid(p Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: %q\n---\nflowchart TD\n", treeTitle(p))
	for _, steps := range phases(p) {
		phase := steps[0].Phase
		if phase != "" {
			fmt.Fprintf(&b, "  subgraph phase_%s [%s]\n", phase, phase)
		}
		for _, s := range steps {
			fmt.Fprintf(&b, "    p%d[\"%s\"]\n", s.Index, s.label("<br/>"))
		}
		if phase != "" {
			b.WriteString("  end\n")
		}
	}
	for _, a := range arrows(p) {
		line := "-->"
		if a.orderOnly {
			line = "-.->"
		}
		fmt.Fprintf(&b, "  p%d %s p%d\n", a.from, line, a.to)
	}
	return b.String()
}

// label returns the text of a node.
func (s Step) label(newline string) string {
	text := s.Project.Title + newline + s.Project.Name
	if hooks := s.hooks(); len(hooks) > 0 {
		text += newline + "hook " + strings.Join(hooks, ", ")
	}
	return text
}
