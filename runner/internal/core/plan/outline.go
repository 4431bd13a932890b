package plan

import (
	"fmt"
	"strings"
	"time"

	"mara/runner/internal/machine/typeset"
)

// renderOutline says in words what a list cannot show: what runs side by side,
// what decides how long it takes, and what is skipped.
func renderOutline(p Plan, width int) string {
	if len(p.Steps) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nLevels, what can run side by side:\n")
	for i, names := range p.Levels() {
		b.WriteString(typeset.Wrap(fmt.Sprintf("  %d  %s", i+1, strings.Join(names, ", ")), width, 5) + "\n")
	}
	path := p.CriticalPath(p.Estimates)
	title := "Longest chain"
	if estimate := p.Estimates.known(path.Projects...); estimate > 0 {
		title = "Critical path, about " + about(estimate)
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n", title, typeset.Wrap("  "+strings.Join(path.Projects, " > "), width, 4))
	if len(p.Excluded) > 0 {
		b.WriteString("\nSkipped:\n")
	}
	for _, e := range p.Excluded {
		b.WriteString(typeset.Wrap(fmt.Sprintf("  %s (%s)", e.Step.Project.Name, e.Reason), width, 4) + "\n")
	}
	return b.String()
}

// aboutOr renders a duration, or says what else where it is not known.
func aboutOr(d time.Duration, unknown string) string {
	if d == 0 {
		return unknown
	}
	return about(d)
}

// about renders a duration no finer than an estimate is.
func about(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Round(time.Second).Seconds()))
	}
	minutes := int(d.Round(30*time.Second).Seconds()) / 30
	if minutes%2 == 1 && minutes < 20 {
		return fmt.Sprintf("%dm30s", minutes/2)
	}
	return fmt.Sprintf("%dm", (minutes+1)/2)
}
