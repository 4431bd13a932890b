package plan

import (
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/machine/typeset"
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
	begin, end string
	beginPhase func(number int, name string) string
	endPhase   string
	node       func(s Step) string
	edge       func(from, to Step, orderOnly bool) string
}

// draw draws the plan in a language, the edges of the first step first.
func (l language) draw(p Plan) string {
	var b strings.Builder
	b.WriteString(l.begin)
	for i, steps := range grouped(p.Steps, func(a, b Step) bool { return a.Phase == b.Phase }) {
		phase := steps[0].Phase
		if phase != "" {
			b.WriteString(l.beginPhase(i, string(phase)))
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
		begin: fmt.Sprintf("digraph %s {\n  label=%s;\n  labelloc=t;\n  node [shape=box, style=rounded];\n", dotText(p.Provider),
			dotText(treeTitle(p))),
		end: "}\n",
		beginPhase: func(_ int, name string) string {
			return fmt.Sprintf("  subgraph %s {\n    label=%s;\n", dotText("cluster_"+name), dotText(name))
		},
		endPhase: "  }\n",
		node: func(s Step) string {
			return fmt.Sprintf("    %s [label=\"%s\"];\n", dotText(s.Project.Name), s.label(`\n`, dotEscape))
		},
		edge: func(from, to Step, orderOnly bool) string {
			style := ""
			if orderOnly {
				style = " [style=dashed]"
			}
			return fmt.Sprintf("  %s -> %s%s;\n", dotText(from.Project.Name), dotText(to.Project.Name), style)
		},
	}.draw(p)
}

// renderMermaid draws the plan for Mermaid, as Markdown pages show it.
func renderMermaid(p Plan) string {
	return language{
		begin: fmt.Sprintf("---\ntitle: \"%s\"\n---\nflowchart TD\n", dotEscape(treeTitle(p))),
		beginPhase: func(number int, name string) string {
			return fmt.Sprintf("  subgraph phase_%d [\"%s\"]\n", number, mermaidEscape(name))
		},
		endPhase: "  end\n",
		node: func(s Step) string {
			return fmt.Sprintf("    p%d[\"%s\"]\n", s.Index, s.label("<br/>", mermaidEscape))
		},
		edge: func(from, to Step, orderOnly bool) string {
			line := "-->"
			if orderOnly {
				line = "-.->"
			}
			return fmt.Sprintf("  p%d %s p%d\n", from.Index, line, to.Index)
		},
	}.draw(p)
}

// label returns the text of a node, of which each line is escaped.
func (s Step) label(newline string, escape func(string) string) string {
	lines := []string{escape(s.Project.Title)}
	if s.Project.Name != s.Project.Title {
		lines = append(lines, escape(s.Project.Name))
	}
	if hooks := s.hooks(); len(hooks) > 0 {
		lines = append(lines, escape("hook "+strings.Join(hooks, ", ")))
	}
	return strings.Join(lines, newline)
}

// mermaidEscape writes what Mermaid would read as its own, or as markup, in the codes that it has for characters.
func mermaidEscape(text string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;").Replace(oneLine(text))
}

// dotEscape escapes what ends a text between quotes in DOT or in YAML, or means something in it.
func dotEscape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(text))
}

func dotText(text string) string { return `"` + dotEscape(text) + `"` }

// oneLine returns a text without line breaks, in which characters that nobody sees are written out.
func oneLine(text string) string { return typeset.Visible(strings.Join(strings.Fields(text), " ")) }
