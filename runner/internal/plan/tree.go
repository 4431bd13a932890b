package plan

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// group is a run of consecutive steps whose projects have the same parent
// folder and the same phase.
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

// renderTree draws the folders and projects as branches, with the remarks in a
// column of their own.
func renderTree(p Plan) string {
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
	return treeTitle(p) + "\n" + align(lines)
}

func treeTitle(p Plan) string {
	count := fmt.Sprintf("%d projects", len(p.Steps))
	if len(p.Steps) == 1 {
		count = "1 project"
	}
	return fmt.Sprintf("%s (%s): %s, in the order of %s", p.Provider, p.Title, count, p.operation())
}

// phaseRemark marks the first group of a phase.
func phaseRemark(phase, before Phase) string {
	if phase == before {
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

// align puts the remarks below one another.
func align(lines []line) string {
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l.branch))
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.branch)
		if l.remark != "" {
			b.WriteString(strings.Repeat(" ", width-utf8.RuneCountInString(l.branch)+2) + l.remark)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
