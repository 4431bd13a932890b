package plan

import (
	"slices"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/graph"
	"mara/runner/internal/machine/typeset"
)

// News is what has happened to a project since it ran.
type News struct {
	Changed []string // values and parts of the program that differ from what ran
	Drifted []string // resources that differ in the cloud, with their values
	Because []string // projects that changed, and whose outputs reach this one
	Flows   []string // outputs that other projects read, with their values
}

// Affected fills in which projects a change reaches: those that read outputs of a changed one, themselves or through
// others. The steps are in the order of the plan.
func Affected(steps []event.Project, news map[string]News) {
	for _, step := range steps {
		one := news[step.Name]
		for _, read := range step.Reads {
			reaching := news[read].Because
			if len(news[read].Changed) > 0 {
				reaching = append([]string{read}, reaching...)
			}
			for _, name := range reaching {
				if !slices.Contains(one.Because, name) {
					one.Because = append(one.Because, name)
				}
			}
		}
		if len(one.Because) > 0 {
			news[step.Name] = one
		}
	}
}

// Mark marks the box of a project with its news. The list of lines is what the box says when one points at it.
func (n News) Mark(node *graph.Node) {
	mark := func(m graph.Mark, short, long string, all []string) {
		if len(all) == 0 || m == graph.Affected && len(n.Changed) > 0 {
			return
		}
		if len(node.News) == 0 {
			node.Text = short
		}
		node.News = append(node.News, m)
		node.Lines = append(node.Lines, long+strings.Join(readable(all), "; "))
	}
	mark(graph.Changed, "changed: "+strings.Join(shortNames(node.ID, n.Changed), ", "), "changed since it ran: ", n.Changed)
	mark(graph.Drifted, "drift: "+typeset.Counted(len(n.Drifted), "resource"), "drift: ", n.Drifted)
	mark(graph.Affected, "may run: "+strings.Join(n.Because, ", ")+" changed", "may run, because it reads what changed: ", n.Because)
	if len(n.Flows) > 0 {
		node.Lines = append(node.Lines, "outputs that others read: "+strings.Join(readable(n.Flows), "; "))
	}
}

// shortNames leaves out what the box says already: the project in "logstore:size" and in "program of logstore".
func shortNames(project string, changes []string) []string {
	short := slices.Clone(changes)
	for i := range short {
		short[i] = strings.TrimSuffix(strings.TrimPrefix(short[i], project+":"), " of "+project)
	}
	return short
}

// readable keeps what one can read while one points at something.
func readable(all []string) []string {
	const most, longest = 6, 100
	var kept []string
	for i, text := range all {
		if i == most {
			return append(kept, "and "+typeset.Counted(len(all)-most, "more"))
		}
		kept = append(kept, typeset.Cut(text, longest, "…"))
	}
	return kept
}
