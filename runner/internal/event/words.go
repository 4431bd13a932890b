package event

import (
	"fmt"
	"strings"
	"time"

	"mara/operation"
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

// String renders what differs with one sign each: +created ~updated ±replaced
// -deleted.
func (c Changes) String() string {
	var parts []string
	for _, p := range []struct {
		sign string
		n    int
	}{{"+", c.Create}, {"~", c.Update}, {"±", c.Replace}, {"-", c.Delete}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s%d", p.sign, p.n))
		}
	}
	if parts == nil {
		return "no changes"
	}
	return strings.Join(parts, " ")
}

// Words renders what differs in words. A preview tells what would be done, a
// look for drift what has been done by others.
func (c Changes) Words(op operation.Operation) string {
	words := []string{"created", "updated", "replaced", "deleted"}
	switch op {
	case operation.Preview:
		words = []string{"to create", "to update", "to replace", "to delete"}
	case operation.Drift:
		words = []string{"new", "changed", "replaced", "gone"}
	}
	var parts []string
	for i, n := range []int{c.Create, c.Update, c.Replace, c.Delete} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[i]))
		}
	}
	if parts == nil {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}

// String renders how many projects ended how.
func (r Results) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word Result
	}{{r.Succeeded, Succeeded}, {r.Failed, Failed}, {r.Skipped, Skipped}, {r.Cancelled, Cancelled}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if parts == nil {
		return "no projects"
	}
	return strings.Join(parts, ", ")
}
