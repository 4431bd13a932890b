package inspect

import (
	"fmt"
	"strings"
	"time"

	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/request"
	"mara/runner/internal/machine/typeset"
)

// text formats the status for people.
func (s environmentStatus) text(now time.Time, width int, colour bool) string {
	var b strings.Builder
	mark := ""
	if s.Simulated {
		mark = " [SIMULATED]"
	}
	fmt.Fprintf(&b, "%s%s, state in %s\n", model.Where(s.Provider, s.Stack), mark, s.Backend)
	if r := s.LastRun; r != nil {
		fmt.Fprintf(&b, "last run: %s %s %s, %s\n", r.Operation, r.Word(), typeset.Ago(now.Sub(r.Started)), r.ID)
		if r.Standing != "" && s.Lock == "" {
			fmt.Fprintf(&b, "  %s\n", r.Standing)
		}
	}
	if s.Lock != "" {
		fmt.Fprintf(&b, "a run is in progress, by %s\n", s.Lock)
	}
	return b.String() + "\n" + s.table(now, colour).Text(width) + "\n" + s.totals() + "\n" + s.applications(width) + s.orphans()
}

// orphans lists stacks that no project claims, with remedies.
func (s environmentStatus) orphans() string {
	if len(s.Orphans) == 0 {
		return ""
	}
	found := inventory.Unclaimed{Orphans: s.Orphans}
	return "\n" + found.Text() + "\n" + found.Remedy(func(name string) string {
		return "runner " + name + " -s " + s.Stack + request.Simulation{On: s.Simulated}.Flag()
	}) + "\n"
}

func (s environmentStatus) table(now time.Time, colour bool) typeset.Table {
	const state, note = 1, 6 // columns
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "PROJECT", Min: 12, Middle: true}, {Title: "STATE"}, {Title: "RESOURCES",
			Optional: true}, {Title: "LAST"},
		{Title: "TOOK", Optional: true}, {Title: "ENDED"}, {Title: "NOTE", Min: 16, Wrap: true, Optional: true},
	}}
	for _, p := range s.Projects {
		table.Rows = append(table.Rows, p.row(now))
	}
	table.Paint = func(row, column int, text string) string {
		if !colour || column != state && column != note {
			return text
		}
		return s.Projects[row].paint(text)
	}
	return table
}

// formatSeconds renders the duration of an update, which Pulumi records in whole seconds.
func formatSeconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return event.FormatDuration(d)
}

func (p projectStatus) row(now time.Time) []string {
	took, ended := "-", "-"
	if p.Ended != nil {
		took = formatSeconds(time.Duration(p.DurationMS) * time.Millisecond)
		ended = typeset.Ago(now.Sub(*p.Ended))
	}
	return []string{p.Project, p.State, typeset.Dash(p.Resources), cmd.OrDash(string(p.Operation)), took, ended,
		p.note()}
}

// mostProblems is how many problems of a project's objects the table shows. JSON has all.
const mostProblems = 3

// note returns the notes on a project: locks, interrupted operations, stale outputs, and what the cluster says.
func (p projectStatus) note() string {
	var notes []string
	if p.Error != "" {
		return p.Error
	}
	if p.Backend != "" {
		notes = append(notes, "in "+p.Backend)
	}
	if p.Lock != "" {
		notes = append(notes, "by "+p.Lock)
	}
	for _, pending := range p.Pending {
		notes = append(notes, "interrupted at "+pending.String())
	}
	for _, s := range p.Stale {
		notes = append(notes, "stale: "+s.String())
	}
	if p.Live != nil {
		notes = append(notes, fmt.Sprintf("%d of %d objects ready", p.Live.Ready, p.Live.Ready+len(p.Live.Problems)))
		for i, problem := range p.Live.Problems {
			if i == mostProblems {
				notes = append(notes, fmt.Sprintf("and %d more", len(p.Live.Problems)-i))
				break
			}
			notes = append(notes, problem.String())
		}
	}
	return strings.Join(notes, "; ")
}

// paint colours a text by the state of the project.
func (p projectStatus) paint(text string) string {
	const green, red, yellow, dim = "32", "31", "33", "2"
	colour := dim
	switch {
	case p.State == stateFailed || p.State == stateUnknown:
		colour = red
	case p.State == stateLocked || len(p.Stale) > 0 || len(p.Pending) > 0 || p.Live != nil && len(p.Live.Problems) > 0:
		colour = yellow
	case p.State == stateDeployed:
		colour = green
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (s environmentStatus) totals() string {
	const stale, pending = "stale", "with interrupted operations"
	counts := map[string]int{}
	for _, p := range s.Projects {
		counts[p.State]++
		counts[stale] += min(len(p.Stale), 1)
		counts[pending] += min(len(p.Pending), 1)
	}
	text := typeset.CountedOf(counts[stateDeployed], len(s.Projects), "project") + " deployed"
	for _, what := range []string{stateFailed, stateUnknown, stale, pending} {
		if counts[what] > 0 {
			text += fmt.Sprintf(", %d %s", counts[what], what)
		}
	}
	return text
}
