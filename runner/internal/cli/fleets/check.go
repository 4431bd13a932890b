package fleets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/repo/fleet"
)

func checkCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "check the configuration of all environments at once", ArgsUsage: cmd.FleetArguments,
		Description: "Evaluates every environment with its layers, and validates it against the keys that the projects " +
			"declare, as an\n" +
			"operation would: types, ranges, unknown and missing keys, secrets in plain text. It also checks\n" +
			"config/rollout.yaml against the labels. It uses no cloud, no backend and no passphrase. Missing secrets may be\n" +
			"set on the machine that runs the rollout: they are listed, and are errors only with --secrets. With --simulate,\n" +
			"values that a simulation generates may be missing.\n\n" +
			"Examples:\n  runner fleet check\n  runner fleet check -l stage=prod -o json\n  runner fleet check --secrets\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags([]cli.Flag{
			&cli.BoolFlag{Name: "simulate", Category: cmd.CommonCategory, Usage: "check the needs of simulated environments"},
			&cli.BoolFlag{Name: "secrets", Usage: "treat a missing passphrase or missing secrets as errors"},
		}),
		Action: cmd.Action(d, parse, runCheck),
	}
}

// verdict has the problems of one environment, and is their JSON form.
type verdict struct {
	Environment string    `json:"environment"`
	Problems    []problem `json:"problems"`
	Unchecked   []string  `json:"unchecked,omitempty"` // missing secrets
}

type problem struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Key  string `json:"key,omitempty"`
	Text string `json:"text"`
}

func runCheck(ctx context.Context, d cmd.Deps, o options) error {
	chosen, rollout, err := o.Choose(o.Selection)
	if err != nil {
		return err
	}
	verdicts, err := parallel.Each(ctx, chosen, func(_ context.Context, e fleet.Environment) (verdict, error) {
		_, waveErr := rollout.WaveOf(e)
		unchecked, err := checkOne(d, o, e)
		return newVerdict(e.Stack, unchecked, config.Join(err, waveErr)), nil
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

// checkOne checks one environment, and returns its missing secrets.
func checkOne(d cmd.Deps, o options, e fleet.Environment) (unchecked []string, err error) {
	one := o.Of(e.Stack)
	one.Interactive = false // do not ask for missing values
	s := session.New(d.Deps, session.Options{Request: one, Operation: operation.Up, NeedSecrets: o.Secrets})
	defer func() { err = errors.Join(err, s.Close()) }()
	err = s.ResolveToOperate()
	if o.Secrets || s.Vault == nil {
		return nil, err
	}
	for _, m := range s.Vault.Missing() {
		if m.IsPlain {
			err = config.Join(err, &config.Error{Problems: []config.Problem{m.Problem()}})
			continue
		}
		unchecked = append(unchecked, m.Secret.Key)
	}
	return unchecked, err
}

func newVerdict(stack string, unchecked []string, err error) verdict {
	v := verdict{Environment: stack, Problems: []problem{}, Unchecked: unchecked}
	var several *config.Error
	switch {
	case err == nil:
	case errors.As(err, &several):
		for _, p := range several.Problems {
			v.Problems = append(v.Problems, problem(p))
		}
	default:
		v.Problems = append(v.Problems, problem{Text: err.Error()})
	}
	return v
}

// conclude reports the problems. It reports a problem that several environments share once.
func conclude(d cmd.Deps, o options, verdicts []verdict) error {
	places := map[config.Problem][]string{}
	var order []config.Problem
	bad := 0
	printUnchecked(d.Stderr, verdicts)
	for _, v := range verdicts {
		if len(v.Problems) > 0 {
			bad++
		}
		for _, p := range v.Problems {
			shared := config.Problem(p)
			if places[shared] == nil {
				order = append(order, shared)
			}
			places[shared] = append(places[shared], v.Environment)
		}
	}
	if bad == 0 {
		if o.Output != "json" {
			fmt.Fprintf(d.Stdout, "%s checked, no problems\n", typeset.Counted(len(verdicts), "environment"))
		}
		return nil
	}
	wrong := &config.Error{Next: fmt.Sprintf("%s %s not valid; `runner config list -s NAME` shows the values of one",
		typeset.CountedOf(bad, len(verdicts), "environment"), typeset.Are(bad))}
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

// printUnchecked prints the missing secrets in one line.
func printUnchecked(w io.Writer, verdicts []verdict) {
	in := 0
	var keys []string
	for _, v := range verdicts {
		in += min(len(v.Unchecked), 1)
		keys = append(keys, v.Unchecked...)
	}
	if in == 0 {
		return
	}
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	fmt.Fprintf(w, "not checked: %s missing in %s (%s); --secrets makes them errors\n",
		typeset.Counted(len(keys), "secret"), typeset.Counted(in, "environment"), strings.Join(keys, ", "))
}
