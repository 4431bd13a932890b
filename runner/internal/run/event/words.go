package event

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"mara/projects/model/operation"
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
	shown := slices.DeleteFunc(slices.Clone(counts), func(c count) bool { return c.n <= 0 })
	var parts []string
	for _, c := range shown {
		parts = append(parts, fmt.Sprintf(c.format, c.n))
	}
	return cmp.Or(strings.Join(parts, separator), none)
}

// String renders what differs with one sign each: +created ~updated ±replaced
// -deleted. Changed outputs follow after a comma.
func (c Changes) String() string {
	resources := counted(" ", "", count{"+%d", c.Create}, count{"~%d", c.Update}, count{"±%d", c.Replace},
		count{"-%d", c.Delete})
	return joinCounts(resources, c.outputWords(""))
}

// outputWords renders how many outputs differ, "" if none does.
func (c Changes) outputWords(suffix string) string {
	switch c.Outputs {
	case 0:
		return ""
	case 1:
		return "1 output" + suffix
	}
	return fmt.Sprintf("%d outputs%s", c.Outputs, suffix)
}

// joinCounts joins the words about resources and about outputs.
func joinCounts(resources, outputs string) string {
	parts := slices.DeleteFunc([]string{resources, outputs}, func(part string) bool { return part == "" })
	return cmp.Or(strings.Join(parts, ", "), "no changes")
}

// Words renders what differs in words. A preview tells what would be done, a
// look for drift what has been done by others.
func (c Changes) Words(op operation.Operation) string {
	words, outputs := [4]string{"%d created", "%d updated", "%d replaced", "%d deleted"}, " changed"
	switch op {
	case operation.Preview:
		words, outputs = [4]string{"%d to create", "%d to update", "%d to replace", "%d to delete"}, " to change"
	case operation.Drift:
		words = [4]string{"%d new", "%d changed", "%d replaced", "%d gone"}
	}
	resources := counted(", ", "", count{words[0], c.Create}, count{words[1], c.Update}, count{words[2], c.Replace},
		count{words[3], c.Delete})
	return joinCounts(resources, c.outputWords(outputs))
}

// String renders how many projects ended how.
func (r Results) String() string {
	return counted(", ", "no projects",
		count{"%d succeeded", r.Succeeded}, count{"%d unchanged", r.Unchanged}, count{"%d failed",
			r.Failed}, count{"%d skipped", r.Skipped - r.Unchanged}, count{"%d cancelled", r.Cancelled})
}
