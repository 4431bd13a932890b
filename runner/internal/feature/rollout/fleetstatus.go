package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
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
			"environment, `runner fleet drift` compares all with the clouds. -o prometheus prints the same as metrics, for\n" +
			"the text files of node-exporter; docs/web.md describes them.\n\n" +
			"Examples:\n  runner fleet status\n  runner fleet status -l stage=prod -o json\n" +
			"  runner fleet status -o prometheus > mara.prom.new\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  fleetFlags(nil, "table", "json", "prometheus"),
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
	standings := append([]standing{}, lists.Map(found.Environments, newStanding)...)
	if err := o.Show(d, standings, standingsText(d, standings)); err != nil {
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

func standingsText(d cmd.Deps, standings []standing) string {
	if len(standings) == 0 {
		return ""
	}
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "ENVIRONMENT", Min: 10, Middle: true}, {Title: "WAVE"}, {Title: "STATE", Min: 10, Wrap: true},
		{Title: "COMMIT", Optional: true}, {Title: "LAST RUN", Min: 10},
	}}
	counts := map[view.State]int{}
	for _, s := range standings {
		counts[s.State]++
		state := string(s.State)
		if len(s.Reasons) > 0 {
			state += ": " + strings.Join(s.Reasons, "; ")
		}
		row := []string{s.Environment, cmd.OrDash(s.Wave), state, cmd.OrDash(s.Commit), s.Last.Words(d.Now())}
		table.Rows = append(table.Rows, row)
	}
	text := fmt.Sprintf("%s\n%s: %d up to date, %d changed, %d never rolled out", table.Text(d.Width()),
		typeset.Counted(len(standings), "environment"), counts[view.UpToDate], counts[view.Changed],
		counts[view.NeverRolledOut])
	for _, state := range view.States() {
		isSaid := state == view.UpToDate || state == view.Changed || state == view.NeverRolledOut
		if !isSaid && counts[state] > 0 {
			text += fmt.Sprintf(", %d %s", counts[state], state)
		}
	}
	return text + "\n"
}
