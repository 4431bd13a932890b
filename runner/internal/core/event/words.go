package event

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/machine/typeset"
)

// FormatDuration renders a duration as a person says it: 1.2s, 3m05s, 1h02m.
func FormatDuration(d time.Duration) string {
	if tenths := d.Round(100 * time.Millisecond); tenths < time.Minute {
		return fmt.Sprintf("%.1fs", tenths.Seconds())
	}
	if seconds := d.Round(time.Second); seconds < time.Hour {
		return fmt.Sprintf("%dm%02ds", int(seconds.Minutes()), int(seconds.Seconds())%60)
	}
	minutes := d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", int(minutes.Hours()), int(minutes.Minutes())%60)
}

// count is a number of something, as "%d failed" says it.
type count struct {
	format string
	n      int
}

// counted renders the numbers that are not zero, or none.
func counted(separator, none string, counts ...count) string {
	var parts []string
	for _, c := range counts {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf(c.format, c.n))
		}
	}
	return cmp.Or(strings.Join(parts, separator), none)
}

// String renders what differs with one sign each: +created ~updated ±replaced
// -deleted, and in brackets how many of them are not ready. Changed outputs follow after a comma.
func (c Changes) String() string { return c.render(" ", [4]string{"+%d", "~%d", "±%d", "-%d"}, "") }

// Words renders what differs in words. A preview tells what would be done, a
// look for drift what has been done by others.
func (c Changes) Words(op operation.Operation) string {
	if op.IsPlain() {
		return "changes not counted"
	}
	switch op {
	case operation.Preview:
		return c.render(", ", [4]string{"%d to create", "%d to update", "%d to replace", "%d to delete"}, " to change")
	case operation.Drift:
		return c.render(", ", [4]string{"%d new", "%d changed", "%d replaced", "%d gone"}, " changed")
	}
	return c.render(", ", [4]string{"%d created", "%d updated", "%d replaced", "%d deleted"}, " changed")
}

// Found says what a look for drift has found of a resource, in the words of Changes.
func (a Action) Found() string {
	words := map[Action]string{Create: "new", Update: "changed", Replace: "replaced", Delete: "gone"}
	return cmp.Or(words[a], string(a))
}

// render renders the counts of resources in their formats, then that of outputs with a suffix.
func (c Changes) render(separator string, formats [4]string, suffix string) string {
	text := counted(separator, "", count{formats[0], c.Create}, count{formats[1], c.Update},
		count{formats[2], c.Replace}, count{formats[3], c.Delete})
	if c.NotReady > 0 {
		text += fmt.Sprintf(" (%d not ready)", c.NotReady)
	}
	if c.Outputs > 0 {
		text = strings.TrimPrefix(text+", "+typeset.Counted(c.Outputs, "output")+suffix, ", ")
	}
	return cmp.Or(text, "no changes")
}

// String renders how many projects ended how.
func (r Results) String() string {
	return counted(", ", "no projects", count{"%d succeeded", r.Succeeded}, count{"%d unchanged", r.Unchanged},
		count{"%d failed", r.Failed}, count{"%d skipped", r.Skipped - r.Unchanged}, count{"%d cancelled", r.Cancelled})
}
