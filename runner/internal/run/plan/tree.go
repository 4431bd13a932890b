package plan

import (
	"fmt"
	"path"
	"strings"

	"mara/runner/internal/machine/typeset"
)

// group is a run of consecutive steps whose projects have the same parent
// directory and the same phase.
type group struct {
	parent string
	phase  Phase
	steps  []Step
}

func groups(p Plan) []group {
	var all []group
	for _, s := range p.Steps {
		parent := path.Dir(s.Project.Path)
		if n := len(all); n == 0 || all[n-1].parent != parent || all[n-1].phase != s.Phase {
			all = append(all, group{parent: parent, phase: s.Phase})
		}
		last := &all[len(all)-1]
		last.steps = append(last.steps, s)
	}
	return all
}

// line is a line of the tree: the branch and what is remarked about it.
type line struct{ branch, remark string }

// renderTree draws the directories and projects as branches, with the remarks in a
// column of their own.
func renderTree(p Plan, width int) string {
	var lines []line
	var phase Phase
	all := groups(p)
	for i, g := range all {
		fork, stem := "├── ", "│   "
		switch {
		case i == len(all)-1:
			fork, stem = "└── ", "    "
		case i == 0:
			fork = "┌── "
		}
		lines = append(lines, line{fork + g.parent, phaseRemark(g.phase, phase)})
		phase = g.phase
		lines = append(lines, g.lines(stem)...)
	}
	return typeset.Wrap(treeTitle(p), width, 2) + "\n" + align(lines, width)
}

func treeTitle(p Plan) string {
	return fmt.Sprintf("%s (%s): %s, in the order of %s", p.Provider, p.Title, typeset.Counted(len(p.Steps), "project"),
		p.operation())
}

// phaseRemark marks the first group of a phase.
func phaseRemark(phase, before Phase) string {
	if phase == before || phase == "" {
		return ""
	}
	return "phase " + string(phase)
}

func (g group) lines(stem string) []line {
	var lines []line
	for i, s := range g.steps {
		fork := "├── "
		if i == len(g.steps)-1 {
			fork = "└── "
		}
		branch := fmt.Sprintf("%s%s%s [%s]", stem, fork, path.Base(s.Project.Path), s.Project.Title)
		lines = append(lines, line{branch, s.remark()})
	}
	return lines
}

// remark names what the step waits for and what the runner does after it.
func (s Step) remark() string {
	var parts []string
	for _, part := range []struct {
		word  string
		names []string
	}{{"reads", s.Reads}, {"after", s.After}, {"hook", s.hooks()}} {
		if len(part.names) > 0 {
			parts = append(parts, part.word+" "+strings.Join(part.names, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// align puts the remarks below one another, or, where that leaves little room
// for them, each behind its branch.
func align(lines []line, width int) string {
	const (
		little = 40 // cells for a remark
		deeper = 2  // than its name goes what does not fit
	)
	column := 0
	for _, l := range lines {
		column = max(column, typeset.Cells(l.branch)+2)
	}
	beside := width == 0 || column+little <= width
	var b strings.Builder
	for _, l := range lines {
		stems := stems(l.branch)
		indent, text := column, typeset.Pad(l.branch, column)+l.remark
		if !beside {
			name := strings.TrimLeft(l.branch, "┌│├└─ ")
			indent, text = typeset.Cells(l.branch)-typeset.Cells(name)+deeper, l.branch+"  "+l.remark
		}
		for i, part := range strings.Split(typeset.Wrap(text, width, indent), "\n") {
			if i > 0 {
				part = typeset.Pad(stems, indent) + part[indent:]
			}
			b.WriteString(strings.TrimRight(part, " ") + "\n")
		}
	}
	return b.String()
}

// stems returns what continues of a branch in the line below.
func stems(branch string) string {
	stems := strings.Map(func(r rune) rune {
		switch r {
		case '│', '├', '┌':
			return '│'
		}
		return ' '
	}, branch)
	return strings.TrimRight(stems, " ")
}
