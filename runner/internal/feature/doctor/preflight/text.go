package preflight

import (
	"fmt"
	"strings"

	"mara/runner/internal/machine/typeset"
)

// Indents of a report as text.
const (
	statusIndent = 2
	textIndent   = statusIndent + len("problem") + 2
	arrow        = "-> " // before a remedy
)

// Style describes the terminal that shows a text.
type Style struct {
	Width  int // characters on a line; 0 does not wrap
	Colour bool
}

// Text formats the report: a list in groups, each under its name, and the counts.
func (r Report) Text(style Style) string {
	var b strings.Builder
	for _, group := range Groups() {
		heading, end := string(group)+"\n", ""
		for _, result := range r.Results {
			if result.Group != group {
				continue
			}
			for _, finding := range result.Findings {
				b.WriteString(heading + style.finding(result.Title, finding))
				heading, end = "", "\n"
			}
		}
		b.WriteString(end)
	}
	b.WriteString(r.Sum() + "\n")
	return b.String()
}

// finding formats a finding on its own line, with the remedy below.
func (s Style) finding(title string, f Finding) string {
	status := strings.Repeat(" ", statusIndent) + s.paint(f.Status, string(f.Status))
	text := typeset.Wrap(typeset.Pad(status, textIndent)+title+": "+inline(f.Text), s.Width, textIndent) + "\n"
	for line := range strings.Lines(f.Table) {
		text += strings.Repeat(" ", textIndent) + strings.TrimRight(line, "\n") + "\n"
	}
	if f.Remedy != "" {
		remedy := strings.Repeat(" ", textIndent) + arrow + inline(f.Remedy)
		text += typeset.Wrap(remedy, s.Width, textIndent+len(arrow)) + "\n"
	}
	return text
}

// inline joins a text of several lines in one.
func inline(text string) string { return strings.Join(strings.Fields(text), " ") }

// Sum counts the findings of each status, the worst first.
func (r Report) Sum() string {
	counts := r.Counts()
	parts := []string{
		plural(counts[Problem], "problem"), plural(counts[Warning], "warning"), fmt.Sprintf("%d ok", counts[OK]),
	}
	if n := counts[Skipped]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d not looked at", n))
	}
	return strings.Join(parts, ", ")
}

func plural(n int, word string) string {
	if n == 0 {
		return "no " + word + "s"
	}
	return typeset.Counted(n, word)
}

func (s Style) paint(status Status, text string) string {
	colours := map[Status]string{OK: "32", Skipped: "2", Warning: "33", Problem: "31"}
	if !s.Colour {
		return text
	}
	return "\x1b[" + colours[status] + "m" + text + "\x1b[0m"
}
