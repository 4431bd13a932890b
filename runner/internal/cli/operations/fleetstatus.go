package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/repo/fleet"
	"mara/runner/internal/workflow/record"
)

// FleetStatus returns `runner fleet status`.
func FleetStatus(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show which environments are up to date",
		ArgsUsage: cmd.FleetArguments,
		Description: "Shows for each environment whether the last runs of all its projects succeeded, with the values\n" +
			"and programs that they have now; else which projects failed, never ran or have changed. It asks a\n" +
			"backend only for what other machines have rolled out; `runner status -s NAME` looks into one\n" +
			"environment, `runner fleet drift` compares all with the clouds.\n\n" +
			"Examples:\n  runner fleet status\n  runner fleet status -l stage=prod -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  lookFlags(),
		Action: cmd.Action(d, parseFleet, runFleetStatus),
	}
}

// standing is the state of an environment, and its JSON form.
type standing struct {
	Environment string       `json:"environment"`
	Wave        string       `json:"wave,omitempty"`
	State       string       `json:"state"`             // see the states of a verdict, and "unknown"
	Changes     []string     `json:"changes,omitempty"` // values and programs that have changed since
	Failed      []string     `json:"failed,omitempty"`  // projects that have not succeeded
	Missing     []string     `json:"missing,omitempty"` // projects that never ran
	Commit      string       `json:"commit,omitempty"`  // of the last run that has ended
	Run         string       `json:"run,omitempty"`     // that run
	Error       string       `json:"error,omitempty"`   // why the state is unknown
	Last        *cmd.PastRun `json:"last_run,omitempty"`
	reasons     []string
}

func runFleetStatus(ctx context.Context, d cmd.Deps, o fleetOptions) (err error) {
	view, err := o.View(o.Chosen)
	if err != nil {
		return err
	}
	last, err := cmd.NewestRuns(o.Directory().Runs())
	if err != nil {
		return err
	}
	var shared session.Shared // where a backend has to be asked
	defer func() { err = errors.Join(err, shared.Close()) }()
	o.Shared = &shared
	t := record.NewToday(ctx, o.Root, d.Version)
	standings, err := parallel.Each(ctx, view.Chosen, func(ctx context.Context, e fleet.Environment) (standing, error) {
		s := standing{Environment: e.Stack}
		if w, err := view.Waves.WaveOf(e); err == nil {
			s.Wave = w.Name
		}
		if run, ok := last[e.Stack]; ok {
			s.Last = &run
		}
		if err := view.Broken[e.Stack]; err != nil {
			s.take(record.Verdict{}, err)
			return s, nil
		}
		v, err := t.Compare(ctx, d.Deps, o.Options, e.Stack)
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		s.take(v, err)
		return s, nil
	})
	if err != nil {
		return err
	}
	if err := o.Show(d, standings, standingsText(d, standings)); err != nil {
		return err
	}
	return view.Err
}

// take sets the state of the environment. An environment that a run is changing right now is running, not unfinished.
func (s *standing) take(v record.Verdict, err error) {
	s.State, s.Changes, s.Failed, s.Missing, s.Commit, s.Run = v.State, v.Changes, v.Failed, v.Missing, v.Commit, v.Run
	isLive := s.Last != nil && s.Last.Result == cmd.Running
	switch {
	case err != nil:
		s.State, s.Error = record.IsUnknown, err.Error()
		s.reasons = []string{s.Error}
	case isLive && (s.Last.Operation.Deploys() || s.Last.Operation.Destroys()):
		s.State, s.reasons = record.IsRunning, []string{string(s.Last.Operation)}
	case v.State == record.NeverRolledOut || v.State == record.IsDestroyed:
	default:
		s.reasons = v.Reasons()
	}
}

func standingsText(d cmd.Deps, standings []standing) string {
	if len(standings) == 0 {
		return ""
	}
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "ENVIRONMENT", Min: 10, Middle: true}, {Title: "WAVE"}, {Title: "STATE", Min: 10, Wrap: true},
		{Title: "COMMIT", Optional: true}, {Title: "LAST RUN", Min: 10},
	}}
	counts := map[string]int{}
	for _, s := range standings {
		counts[s.State]++
		state := s.State
		if len(s.reasons) > 0 {
			state += ": " + strings.Join(s.reasons, "; ")
		}
		table.Rows = append(
			table.Rows, []string{s.Environment, cmd.OrDash(s.Wave), state, cmd.OrDash(s.Commit), s.Last.Words(d.Now())},
		)
	}
	text := fmt.Sprintf("%s\n%s: %d up to date, %d changed, %d never rolled out", table.Text(d.Width()),
		typeset.Counted(len(standings), "environment"), counts[record.IsUpToDate], counts[record.HasChanged],
		counts[record.NeverRolledOut])
	others := []string{
		record.HasFailed, record.IsPartly, record.IsUnfinished, record.IsRunning, record.IsDestroyed, record.IsUnknown,
	}
	for _, state := range others {
		if counts[state] > 0 {
			text += fmt.Sprintf(", %d %s", counts[state], state)
		}
	}
	return text + "\n"
}
