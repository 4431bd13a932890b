package operations

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/identity"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/failure"
)

func hookRunCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run the hooks of a project again", ArgsUsage: "PROJECT [HOOK]",
		Description: "Runs one hook of a project, or all that follow a successful up. PROJECT is \"run\" for the hooks\n" +
			"of the run. A command runs as after a successful up, with the current outputs. Nothing is deployed.\n\n" +
			"Examples:\n  runner hook run kind-cluster kubeconfig -s dev\n  runner hook run shop smoke\n" +
			"  runner hook run kind-cluster -s dev --simulate\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.EnvironmentFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags()),
		Action: cmd.Action(d, parseHookRun, cmd.InSession(session.Resolve, runHookRun)),
	}
}

type hookRunOptions struct {
	cmd.Common
	Project, Hook string
}

func parseHookRun(c *cli.Context, _ cmd.Deps, common cmd.Common) (hookRunOptions, error) {
	if c.NArg() == 0 {
		return hookRunOptions{}, failure.Usagef(
			cmd.Path(c), "name the project, or \"run\"; `runner hook list` shows the hooks",
		)
	}
	return hookRunOptions{Common: common, Project: c.Args().Get(0), Hook: c.Args().Get(1)}, nil
}

func runHookRun(ctx context.Context, d cmd.Deps, o hookRunOptions, s *session.Resolved) error {
	step, wanted, err := o.choose(s)
	if err != nil {
		return err
	}
	open, err := s.Reveal(ctx)
	if err != nil {
		return err
	}
	if err := identity.CheckKnown(open); err != nil {
		return err
	}
	for _, hook := range wanted {
		call := executor.HookCall{
			Hook: hook, Step: step, Result: executor.StepResult{Project: step.Project.Name, Result: event.Succeeded},
		}
		say := func(e event.Event) { fmt.Fprintln(d.Stderr, s.Masker.Mask(e.Message)) }
		err := open.Hooks().Hook(operation.Up)(ctx, call, say)
		if err != nil {
			return fmt.Errorf("hook %s of %s: %w", hook.Name, step.Project.Name, err)
		}
		fmt.Fprintf(d.Stderr, "hook %s of %s done\n", hook.Name, step.Project.Name)
	}
	return nil
}

// choose finds the project and its hooks.
func (o hookRunOptions) choose(s *session.Resolved) (step plan.Step, wanted []model.Hook, err error) {
	step = runStep(s)
	if o.Project != event.RunProject {
		project, err := s.Plan.Project(o.Project)
		if err != nil {
			return step, nil, err
		}
		step = plan.Step{Project: project}
	}
	var names []string
	for _, h := range step.Project.Hooks {
		names = append(names, h.Name)
		if h.Name == o.Hook || o.Hook == "" && h.For(operation.Up) && (h.On == model.OnSuccess || h.On == model.Always) {
			wanted = append(wanted, h)
		}
	}
	if len(wanted) == 0 {
		text := fmt.Sprintf("%s has no hook %q%s", o.Project, o.Hook, config.DidYouMean(o.Hook, names))
		if o.Hook == "" {
			text = o.Project + " has no hook that follows an up"
		}
		return step, nil, &failure.Usage{Text: text, Next: "`runner hook list` shows the hooks"}
	}
	return step, wanted, nil
}
