package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mara/runner/internal/event"
)

// writeStatus writes the status for people.
func writeStatus(w io.Writer, status environmentStatus, now time.Time, colour bool) error {
	var b strings.Builder
	mark := ""
	if status.Simulated {
		mark = " [SIMULATED]"
	}
	fmt.Fprintf(&b, "%s, stack %s%s, state in %s\n", status.Provider, status.Stack, mark, status.Backend)
	if r := status.LastRun; r != nil {
		fmt.Fprintf(&b, "last run: %s %s %s, %s\n", r.Operation, r.Result, ago(now.Sub(r.Started)), r.ID)
	}
	if status.Lock != "" {
		fmt.Fprintf(&b, "a run goes on, by %s\n", status.Lock)
	}
	b.WriteString("\n")
	rows := [][]string{{"PROJECT", "STATE", "RESOURCES", "LAST", "TOOK", "ENDED", "NOTE"}}
	for _, p := range status.Projects {
		rows = append(rows, p.row(now))
	}
	writeColumns(&b, rows, func(row, column int, text string) string {
		if !colour || row == 0 || column != 1 && column != len(rows[0])-1 {
			return text
		}
		return status.Projects[row-1].paint(text)
	})
	b.WriteString("\n" + status.totals() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// row is the project's line.
func (p projectStatus) row(now time.Time) []string {
	took, ended := "-", "-"
	if p.Ended != nil {
		took = event.FormatDuration(time.Duration(p.DurationMS) * time.Millisecond)
		ended = ago(now.Sub(*p.Ended))
	}
	return []string{p.Project, p.State, dash(p.Resources), orDash(p.Operation), took, ended, p.note()}
}

// note is what a user has to know besides.
func (p projectStatus) note() string {
	var notes []string
	if p.Lock != "" {
		notes = append(notes, "by "+p.Lock)
	}
	for _, pending := range p.Pending {
		notes = append(notes, "cut off at "+pending.String())
	}
	for _, s := range p.Stale {
		notes = append(notes, "stale: "+s.String())
	}
	return strings.Join(notes, "; ")
}

// paint colours what says how the project is.
func (p projectStatus) paint(text string) string {
	const green, red, yellow, dim = "32", "31", "33", "2"
	colour := dim
	switch {
	case p.State == stateFailed:
		colour = red
	case p.State == stateLocked || len(p.Stale) > 0 || len(p.Pending) > 0:
		colour = yellow
	case p.State == stateDeployed:
		colour = green
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// totals count the projects.
func (s environmentStatus) totals() string {
	deployed, failed, stale, pending := 0, 0, 0, 0
	for _, p := range s.Projects {
		deployed += one(p.State == stateDeployed)
		failed += one(p.State == stateFailed)
		stale += one(len(p.Stale) > 0)
		pending += one(len(p.Pending) > 0)
	}
	text := fmt.Sprintf("%d of %d projects deployed", deployed, len(s.Projects))
	for _, other := range []struct {
		n    int
		what string
	}{{failed, "failed"}, {stale, "stale"}, {pending, "with operations that were cut off"}} {
		if other.n > 0 {
			text += fmt.Sprintf(", %d %s", other.n, other.what)
		}
	}
	return text
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// writeColumns sets rows in columns, two spaces apart; paint may colour a cell,
// which does not count for its width.
func writeColumns(b *strings.Builder, rows [][]string, paint func(row, column int, text string) string) {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, text := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	for r, cells := range rows {
		last := len(cells) - 1
		for last > 0 && cells[last] == "" {
			last--
		}
		for i, text := range slices.Clip(cells)[:last+1] {
			b.WriteString(paint(r, i, text))
			if i < last {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+2))
			}
		}
		b.WriteString("\n")
	}
}
