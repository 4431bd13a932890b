package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/operations"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/typeset"
)

// FleetStatus returns `runner fleet status`.
func FleetStatus(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show which environments are up to date",
		ArgsUsage: cmd.FleetArguments,
		Description: "Shows for each environment whether the last runs of all its projects succeeded, with the values\n" +
			"and programs that they have now; else which projects failed, never ran or have changed. It asks a\n" +
			"backend only for what other machines have rolled out; `runner status -s NAME` looks into one\n" +
			"environment, `runner fleet drift` compares all with the clouds. Each environment has one line with the worst\n" +
			"reason, the worst environments of a wave come first, and --why lists all reasons. -o prometheus prints the same as metrics, for\n" +
			"the text files of node-exporter; docs/web.md describes them.\n\n" +
			"Examples:\n  runner fleet status\n  runner fleet status --why\n  runner fleet status -l stage=prod -o json\n" +
			"  runner fleet status -o prometheus > mara.prom.new\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  fleetFlags(operations.FlagsOf("why"), "table", "json", "prometheus"),
		Action: cmd.Action(d, parseFleet, runFleetStatus),
	}
}

// standing is the state of an environment, and its JSON form.
type standing struct {
	Environment string        `json:"environment"`
	Provider    string        `json:"provider,omitempty"`
	Wave        string        `json:"wave,omitempty"`
	State       view.State    `json:"state"`
	Reasons     []string      `json:"reasons,omitempty"` // of all states that hold, not only of the worst
	Changes     []string      `json:"changes,omitempty"` // values and programs that have changed since
	Failed      []string      `json:"failed,omitempty"`  // projects that have not succeeded
	Missing     []string      `json:"missing,omitempty"` // projects that never ran
	Commit      string        `json:"commit,omitempty"`  // of the last run that has ended
	Run         string        `json:"run,omitempty"`     // that run
	Error       string        `json:"error,omitempty"`   // why the state is unknown
	Last        *view.PastRun `json:"last_run,omitempty"`
	Lock        *view.Lock    `json:"lock,omitempty"`
	Drift       *record.Drift `json:"drift,omitempty"` // the result of the last comparison, unless it is void
	Costs       *view.Costs   `json:"costs,omitempty"` // as the last preview has estimated them
	Ends        *time.Time    `json:"ends,omitempty"`  // when its time is over
}

func newStanding(e view.Environment) standing {
	s := standing{
		Environment: e.Name, Provider: e.Provider, Wave: e.Wave, State: e.State, Reasons: e.Reasons,
		Changes: e.Verdict.Changes, Failed: e.Verdict.Failed, Missing: e.Verdict.Missing, Commit: e.Verdict.Commit,
		Run: e.Verdict.Run, Error: e.Error, Lock: e.Lock, Costs: e.Lately.Costs,
	}
	if e.Lately.Any != nil {
		s.Last = &e.Lately.Any.PastRun
	}
	if e.Drift != nil && !e.Drift.Void {
		s.Drift = e.Drift
	}
	if ends := e.Life.Ends(); !ends.IsZero() {
		s.Ends = &ends
	}
	return s
}

func runFleetStatus(ctx context.Context, d cmd.Deps, o fleetOptions) (err error) {
	found, err := readFleet(ctx, d, o)
	if err != nil {
		return err
	}
	if o.Output == "prometheus" {
		_, err := d.Stdout.Write(view.Text(found, d.Version, d.Now()))
		return errors.Join(err, found.Err)
	}
	d.Note(found.Apart())
	standings := append([]standing{}, lists.Map(found.Environments, newStanding)...)
	if err := o.Show(d, standings, standingsText(byWave(standings, found.Waves), o, d.Now(), d.Width())); err != nil {
		return err
	}
	return found.Err
}

// readFleet reads the state of the chosen environments.
func readFleet(ctx context.Context, d cmd.Deps, o fleetOptions) (found view.Fleet, err error) {
	reader := view.NewReader(d.Deps, o.Options)
	defer func() { err = errors.Join(err, reader.Close()) }()
	if err := reader.ReadFiles(o.Chosen); err != nil {
		return found, err
	}
	if err := reader.Compare(ctx); err != nil {
		return found, err
	}
	if _, err := reader.Look(); err != nil {
		return found, err
	}
	return reader.Fleet(), nil
}

// standingsText shows the environments by wave, the worst first, with one reason each: all reasons fit no line.
func standingsText(standings []standing, o fleetOptions, now time.Time, width int) string {
	if len(standings) == 0 {
		return ""
	}
	lines := strings.SplitAfter(standingsTable(standings, o, now, width).Text(width), "\n")
	text, wave := lines[0], ""
	for i, s := range standings {
		if s.Wave != wave {
			wave = s.Wave
			text += wave + "\n"
		}
		text += lines[i+1]
		for _, reason := range s.Reasons {
			if o.Why {
				text += typeset.Wrap("    "+reason, width, 4) + "\n"
			}
		}
	}
	counts := map[view.State]int{}
	for _, s := range standings {
		counts[s.State]++
	}
	var parts []string
	for _, state := range view.States() {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
		}
	}
	return text + "\n" + typeset.Counted(len(standings), "environment") + ": " + strings.Join(parts, ", ") + "\n"
}

// byWave sorts environments by their waves, in the order of a rollout, and in each the worst first.
func byWave(standings []standing, rollout []fleet.Wave) []standing {
	waves := lists.Map(rollout, func(w fleet.Wave) string { return w.Name })
	sorted := slices.Clone(standings)
	slices.SortStableFunc(sorted, func(a, b standing) int {
		return cmp.Or(cmp.Compare(slices.Index(waves, a.Wave), slices.Index(waves, b.Wave)), cmp.Compare(a.State.Rank(), b.State.Rank()))
	})
	return sorted
}

// standingsTable has a line for each environment.
func standingsTable(standings []standing, o fleetOptions, now time.Time, width int) typeset.Table {
	const mostName, mostReason = 36, 60 // one long name would leave nothing for the others
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "  ENVIRONMENT", Min: 14, Middle: true}, {Title: "STATE"}, {Title: "LAST RUN", Optional: true},
		{Title: "COMMIT", Min: 7, Optional: true}, {Title: "WHY", Min: 16},
	}}
	for _, s := range standings {
		name, reason := s.Environment, ""
		if width > 0 {
			name = typeset.CutMiddle(name, mostName, "…")
		}
		if len(s.Reasons) > 0 && !o.Why {
			reason = typeset.Cut(s.Reasons[0], mostReason, "…")
		}
		table.Rows = append(table.Rows, []string{s.State.Mark() + " " + name, string(s.State), s.Last.Words(now), s.Commit, reason})
	}
	table.Paint = func(row, column int, text string) string {
		if !o.Color || column > 1 {
			return text
		}
		return paint(standings[row].State, text)
	}
	return table
}

// paint colours a text by the state of its environment.
func paint(state view.State, text string) string {
	const green, red, yellow, dim = "32", "31", "33", "2"
	colour := yellow
	switch state {
	case view.Failed:
		colour = red
	case view.UpToDate:
		colour = green
	case view.NeverRolledOut, view.Destroyed, view.Waiting:
		colour = dim
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
