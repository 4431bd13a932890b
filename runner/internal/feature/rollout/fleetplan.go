package rollout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/operations"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/typeset"
)

// fleetFlags returns the flags of a command that shows the fleet in some forms, after some that only this one has.
func fleetFlags(own []cli.Flag, forms ...string) []cli.Flag {
	simulate := []cli.Flag{cmd.SimulateFlag("look at the simulated environments")}
	return cmd.JoinFlags(cmd.FleetFlags(), own, cmd.OutputFlag(forms...), simulate, cmd.RootFlags(), cmd.BaseFlags())
}

type fleetOptions struct {
	cmd.Common
	Chosen   fleet.Selection
	Affected Affected
	Destroy  bool
	Why      bool // all reasons of a state
}

func parseFleet(c *cli.Context, _ cmd.Deps, common cmd.Common) (fleetOptions, error) {
	chosen, err := cmd.ParseFleet(c, c.Args().Slice())
	return fleetOptions{Common: common, Chosen: chosen, Affected: parseAffected(c), Destroy: c.Bool("destroy"), Why: c.Bool("why")}, err
}

// FleetPlan returns `runner fleet plan`.
func FleetPlan(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "show in which waves environments would be rolled out, and why",
		ArgsUsage: cmd.FleetArguments,
		Description: "Reads the configuration and the records of past runs. It asks no cloud, and a backend only for\n" +
			"what other machines have rolled out. Without a choice it shows all environments. --affected shows\n" +
			"only environments whose values or programs have changed since their last success; --affected=REF,\n" +
			"since a commit of git; --why says what has changed.\n\n" +
			"Examples:\n  runner fleet plan\n  runner fleet plan --affected --why\n" +
			"  runner fleet plan --affected=origin/main -o json\n  runner fleet plan -o svg > waves.svg\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: fleetFlags(
			append(operations.FlagsOf("affected", "why"), &cli.BoolFlag{Name: "destroy", Usage: "show the order of destroy"}),
			"table", "json", "dot", "mermaid", "svg", "html",
		),
		Action: cmd.Action(d, parseFleet, runFleetPlan),
	}
}

// plannedWave is a wave of the plan, and its JSON form.
type plannedWave struct {
	Wave         string               `json:"wave,omitempty"`
	After        []string             `json:"after,omitempty"`
	Parallel     int                  `json:"parallel,omitempty"` // 0 is no limit
	MaxFailures  int                  `json:"max_failures,omitempty"`
	Soak         string               `json:"soak,omitempty"`
	Gates        []string             `json:"gates,omitempty"`
	Environments []plannedEnvironment `json:"environments"`
}

type plannedEnvironment struct {
	Environment string   `json:"environment"`
	Provider    string   `json:"provider,omitempty"`
	Reasons     []string `json:"reasons,omitempty"` // why it is affected
}

func runFleetPlan(ctx context.Context, d cmd.Deps, o fleetOptions) error {
	all, waves, err := o.Fleet()
	if err != nil || len(all) == 0 {
		return err
	}
	chosen, err := fleet.Select(all, o.Chosen)
	if err != nil {
		return err
	}
	reasons := map[string][]string{}
	if o.Affected.Asked {
		d.Note(apart(o.Request, chosen))
		if chosen, err = o.Affected.Choose(ctx, d.Deps, o.Options, chosen, reasons); err != nil {
			return err
		}
	}
	planned, err := newPlannedWaves(chosen, waves, reasons)
	if err != nil {
		return err
	}
	if o.Destroy {
		slices.Reverse(planned)
	}
	if o.Output == "json" {
		return cmd.WriteJSON(d.Stdout, planned)
	}
	if o.Output != "table" {
		text, err := drawWaves(chosen, waves, o)
		if err != nil {
			return err
		}
		return d.Print(text)
	}
	if len(chosen) == 0 {
		fmt.Fprintf(d.Stdout, "none of %s is affected\n", typeset.Counted(len(all), "environment"))
		return nil
	}
	for _, w := range planned {
		w.write(d, o.Affected.Asked)
	}
	return nil
}

// drawWaves draws the waves and their environments as `runner plan` draws projects.
func drawWaves(chosen []fleet.Environment, waves fleet.Rollout, o fleetOptions) (string, error) {
	p, err := fleet.NewPlan(chosen, waves, true)
	if err != nil {
		return "", err
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		wave := p.Waves[step.Project.Name]
		step.Phase = plan.Phase(wave.Name)
		if _, ends := p.Ends(step.Project.Name); !ends {
			step.Project.Title = step.Project.Name
			continue
		}
		var waits []string
		if wave.Soak > 0 {
			waits = append(waits, "soak "+event.FormatDuration(wave.Soak))
		}
		for _, gate := range wave.Gates {
			waits = append(waits, "gate "+gate.String())
		}
		step.Project.Title = cmp.Or(strings.Join(waits, ", "), "wave "+wave.Name+" is done")
	}
	p.Heading = fmt.Sprintf("%s in waves, in the order of up", typeset.Counted(len(chosen), "environment"))
	if o.Destroy {
		p.Heading = strings.Replace(p.Heading, "of up", "of destroy", 1)
		p.Plan = p.Reverse()
	}
	return plan.Render(p.Plan, plan.Format(o.Output), 0)
}

// newPlannedWaves lists the waves that have chosen environments.
func newPlannedWaves(chosen []fleet.Environment, r fleet.Rollout, reasons map[string][]string) ([]plannedWave,
	error) {
	p, err := fleet.NewPlan(chosen, r, true)
	if err != nil {
		return nil, err
	}
	if len(r.Waves) == 0 {
		r.Waves = []fleet.Wave{{}}
	}
	planned := []plannedWave{}
	for _, w := range r.Waves {
		one := plannedWave{Wave: w.Name, After: w.After, Gates: lists.Map(w.Gates, fleet.Gate.String)}
		for _, e := range chosen {
			if p.Waves[e.Stack].Name == w.Name {
				one.Environments = append(one.Environments, plannedEnvironment{e.Stack, e.Provider, reasons[e.Stack]})
			}
		}
		if len(one.Environments) == 0 {
			continue
		}
		one.Parallel, one.MaxFailures = w.Parallel.Of(len(one.Environments)), w.MaxFailures.AtMost(len(one.Environments))
		if w.Soak > 0 {
			one.Soak = event.FormatDuration(w.Soak)
		}
		planned = append(planned, one)
	}
	return planned, nil
}

func (w plannedWave) write(d cmd.Deps, why bool) {
	if w.Wave != "" {
		fmt.Fprintf(d.Stdout, "Wave %s: %s\n", w.Wave, strings.Join(w.facts(), ", "))
	}
	for _, e := range w.Environments {
		text := "  " + e.Environment
		if why {
			text += ": " + strings.Join(e.Reasons, "; ")
		}
		fmt.Fprintln(d.Stdout, typeset.Wrap(text, d.Width(), 4))
	}
}

// facts lists the size, the limits and the gates of a wave.
func (w plannedWave) facts() []string {
	facts := []string{typeset.Counted(len(w.Environments), "environment")}
	if len(w.After) > 0 {
		facts = append(facts, "after "+strings.Join(w.After, " and "))
	}
	if w.Parallel > 0 {
		facts = append(facts, fmt.Sprintf("%d at once", w.Parallel))
	}
	if w.MaxFailures > 0 {
		facts = append(facts, fmt.Sprintf("%d may fail", w.MaxFailures))
	}
	if w.Soak != "" {
		facts = append(facts, "soaks "+w.Soak)
	}
	return append(facts, lists.Map(w.Gates, func(gate string) string { return "gate " + gate })...)
}
