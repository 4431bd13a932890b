package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/fleet"
	"mara/runner/internal/session"
	"mara/runner/internal/typeset"
)

// FleetStatus is `runner fleet status`.
func FleetStatus(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show which environments are what they are configured to be", ArgsUsage: cmd.FleetArguments,
		Description: "Shows for each environment whether the last up of all its projects succeeded with the configuration it has now,\n" +
			"from which commit, and the last run from here. It asks no backend; `runner status -s NAME` looks into one\n" +
			"environment, `runner fleet drift` compares all with the clouds.\n\n" +
			"Examples:\n  runner fleet status\n  runner fleet status -l stage=prod -o json\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  lookFlags(),
		Action: cmd.Action(d, parseFleet, runFleetStatus),
	}
}

// standing is how an environment stands, and its JSON form.
type standing struct {
	Environment string       `json:"environment"`
	Wave        string       `json:"wave,omitempty"`
	State       string       `json:"state"`             // "never rolled out", "up to date", "changed"
	Changes     []string     `json:"changes,omitempty"` // files that have changed since
	Commit      string       `json:"commit,omitempty"`  // of the last success
	Run         string       `json:"run,omitempty"`     // the last success
	Last        *cmd.PastRun `json:"last_run,omitempty"`
}

func runFleetStatus(ctx context.Context, d cmd.Deps, o fleetOptions) (err error) {
	chosen, waves, err := o.Choose(o.Chosen)
	if err != nil {
		return err
	}
	last, err := cmd.NewestRuns(o.Folder().Runs())
	if err != nil {
		return err
	}
	var shared session.Shared // where a backend has to be asked
	defer func() { err = errors.Join(err, shared.Close()) }()
	o.Shared = &shared
	standings, err := cmd.Each(ctx, chosen, func(ctx context.Context, e fleet.Environment) (standing, error) {
		s := standing{Environment: e.Stack, State: "never rolled out"}
		if w, err := waves.WaveOf(e); err == nil {
			s.Wave = w.Name
		}
		if run, ok := last[e.Stack]; ok {
			s.Last = &run
		}
		known, changes, ok, err := standsAs(ctx, d, o.Options, e.Stack)
		if err != nil || !ok {
			return s, err
		}
		s.State, s.Changes, s.Commit, s.Run = "up to date", changes, known.Commit, known.Run
		if len(s.Changes) > 0 {
			s.State = "changed"
		}
		return s, err
	})
	if err != nil {
		return err
	}
	return o.Show(d, standings, standingsText(d, standings))
}

func standingsText(d cmd.Deps, standings []standing) string {
	if len(standings) == 0 {
		return ""
	}
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "ENVIRONMENT", Min: 10, Middle: true}, {Title: "WAVE"}, {Title: "STATE", Min: 10, Wrap: true}, {Title: "COMMIT", Optional: true}, {Title: "LAST RUN", Min: 10},
	}}
	counts := map[string]int{}
	for _, s := range standings {
		counts[s.State]++
		state := s.State
		if len(s.Changes) > 0 {
			state += ": " + strings.Join(s.Changes, ", ")
		}
		table.Rows = append(table.Rows, []string{s.Environment, cmd.OrDash(s.Wave), state, cmd.OrDash(s.Commit), s.Last.Words(d.Now())})
	}
	return fmt.Sprintf("%s\n%s: %d up to date, %d changed, %d never rolled out\n", table.Text(d.Width()),
		typeset.Counted(len(standings), "environment"), counts["up to date"], counts["changed"], counts["never rolled out"])
}
