package fleets

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/fleet"
	"mara/runner/internal/session"
	"mara/runner/internal/typeset"
)

func checkCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "check the configuration of all environments at once", ArgsUsage: cmd.FleetArguments,
		Description: "Evaluates every environment with its layers, and holds it against the keys that the projects declare, as an\n" +
			"operation would: types, ranges, unknown and missing keys, secrets that are missing; and config/rollout.yaml\n" +
			"against the labels. It asks no cloud, no backend and no passphrase. With --simulate, what a simulation makes up\n" +
			"may be missing.\n\n" +
			"Examples:\n  runner fleet check\n  runner fleet check -l stage=prod -o json\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags([]cli.Flag{&cli.BoolFlag{Name: "simulate", Category: cmd.CommonCategory, Usage: "check what a simulation needs"}}),
		Action: cmd.Action(d, parse, runCheck),
	}
}

// verdict is what is wrong with one environment, and its JSON form.
type verdict struct {
	Environment string    `json:"environment"`
	Problems    []problem `json:"problems"`
	err         error
}

type problem struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Key  string `json:"key,omitempty"`
	Text string `json:"text"`
}

func runCheck(ctx context.Context, d cmd.Deps, o options) error {
	chosen, rollout, err := choose(o.Request, o.Selection)
	if err != nil {
		return err
	}
	verdicts, err := cmd.Each(ctx, chosen, func(_ context.Context, e fleet.Environment) (verdict, error) {
		_, waveErr := rollout.WaveOf(e)
		return newVerdict(e.Stack, config.Join(checkOne(d, o, e), waveErr)), nil
	})
	if err != nil {
		return err
	}
	if o.Output == "json" {
		if err := cmd.WriteJSON(d.Stdout, verdicts); err != nil {
			return err
		}
	}
	return conclude(d, o, verdicts)
}

// checkOne holds one environment against what its projects declare.
func checkOne(d cmd.Deps, o options, e fleet.Environment) (err error) {
	s := session.New(d.Deps, session.Options{Request: o.Of(e.Stack), Operation: operation.Up, NeedSecrets: true})
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.ResolveToOperate()
}

func newVerdict(stack string, err error) verdict {
	v := verdict{Environment: stack, Problems: []problem{}, err: err}
	var several *config.Error
	switch {
	case err == nil:
	case errors.As(err, &several):
		for _, p := range several.Problems {
			v.Problems = append(v.Problems, problem{File: p.File, Line: p.Line, Key: p.Key, Text: p.Text})
		}
	default:
		v.Problems = append(v.Problems, problem{Text: err.Error()})
	}
	return v
}

// conclude tells the problems. One that several environments have from the same
// layer is told once.
func conclude(d cmd.Deps, o options, verdicts []verdict) error {
	places := map[config.Problem][]string{}
	var order []config.Problem
	bad := 0
	for _, v := range verdicts {
		if len(v.Problems) > 0 {
			bad++
		}
		for _, p := range v.Problems {
			told := config.Problem(p)
			if places[told] == nil {
				order = append(order, told)
			}
			places[told] = append(places[told], v.Environment)
		}
	}
	if bad == 0 {
		if o.Output != "json" {
			fmt.Fprintf(d.Stdout, "%s checked, nothing is wrong\n", typeset.Counted(len(verdicts), "environment"))
		}
		return nil
	}
	wrong := &config.Error{Next: fmt.Sprintf("%s %s not valid; `runner config list -s NAME` shows the values of one", typeset.CountedOf(bad, len(verdicts), "environment"), typeset.Are(bad))}
	for _, p := range order {
		if n := len(places[p]); n > 1 {
			p.Text += fmt.Sprintf(" (in %s)", typeset.Counted(n, "environment"))
		} else {
			p.Text += fmt.Sprintf(" (in %s)", places[p][0])
		}
		wrong.Problems = append(wrong.Problems, p)
	}
	return wrong
}
