package plan

import (
	"fmt"
	"path"
	"strings"

	"mara/projects/model"
	"mara/runner/internal/machine/typeset"
)

// line is a line of the tree: the branch and what is remarked about it.
type line struct{ branch, remark string }

// renderTree draws the directories and projects as branches, with the remarks in a
// column of their own. Projects that all lie in the root need no directory.
func renderTree(p Plan, width int) string {
	var lines []line
	var phase Phase
	parent := func(s Step) string { return path.Dir(s.Project.Path) }
	all := grouped(p.Steps, func(a, b Step) bool { return a.Phase == b.Phase && parent(a) == parent(b) })
	if len(all) == 1 && parent(p.Steps[0]) == "." && p.Steps[0].Phase == "" {
		lines = branches(p.Steps, "")
		lines[0].branch = strings.Replace(lines[0].branch, "├", "┌", 1)
		return typeset.Wrap(treeTitle(p), width, 2) + "\n" + align(lines, width)
	}
	for i, steps := range all {
		fork, stem := "├── ", "│   "
		switch {
		case i == len(all)-1:
			fork, stem = "└── ", "    "
		case i == 0:
			fork = "┌── "
		}
		first := line{branch: fork + parent(steps[0])}
		if parent(steps[0]) == "." {
			first.branch = fork + "(the root)"
		}
		if steps[0].Phase != phase && steps[0].Phase != "" {
			first.remark = "phase " + string(steps[0].Phase)
		}
		phase = steps[0].Phase
		lines = append(append(lines, first), branches(steps, stem)...)
	}
	return typeset.Wrap(treeTitle(p), width, 2) + "\n" + align(lines, width)
}

// branches draws projects that lie beside one another.
func branches(steps []Step, stem string) (lines []line) {
	for i, s := range steps {
		fork := "├── "
		if i == len(steps)-1 {
			fork = "└── "
		}
		branch := fmt.Sprintf("%s%s%s [%s]", stem, fork, path.Base(s.Project.Path), s.Project.Title)
		lines = append(lines, line{branch, s.remark()})
	}
	return lines
}

func treeTitle(p Plan) string {
	if p.Heading != "" {
		return p.Heading
	}
	title := fmt.Sprintf("%s, in the order of %s", typeset.Counted(len(p.Steps), "project"), p.operation())
	if p.Provider == model.OwnProvider { // a mara.yaml without providers: the word would tell its reader nothing
		return title
	}
	return fmt.Sprintf("%s (%s): %s", p.Provider, p.Title, title)
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
