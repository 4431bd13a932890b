package operations

import (
	"github.com/urfave/cli/v2"

	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
)

// Hook returns `runner hook`, with the commands below it.
func Hook(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "hook", Usage: "list hooks, or run one again",
		Description: "A hook is work around the steps of a project, or around a run: what the runner itself does, such\n" +
			"as merging a kubeconfig, or a command of your own in mara.yaml.\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Subcommands: []*cli.Command{hookListCommand(d), hookRunCommand(d)},
	}
}

// runStep returns a step with the hooks of the run.
func runStep(s *session.Resolved) plan.Step {
	return plan.Step{Project: model.Project{Name: event.RunProject, Title: "Run", Hooks: s.Provider.Hooks}}
}
