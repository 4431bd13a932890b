package operators

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
)

func adoptCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "adopt", Usage: "hand a deployed environment over to the operator, or take it back",
		Description: "Works on Stacks that were exported with --preview, on the backend of the deployed environment: they\n" +
			"only preview, and fail if they find changes. When no Stack has found any, they are switched to\n" +
			"updates; nothing changes in the environment. With --back the Stacks are deleted and all resources\n" +
			"stay: the runner works on the environment again.\n\n" +
			"Examples:\n" +
			"  runner operator adopt -s dev\n" +
			"  runner operator adopt -s dev --back --yes\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: flags(append(cmd.ConfirmFlags(), timeoutFlag(),
			&cli.BoolFlag{Name: "back", Usage: "take the environment back: delete the Stacks, and destroy nothing"})...),
		Action: action(d, work.adopt),
	}
}

func (w work) adopt(ctx context.Context) error {
	if w.o.Back {
		if err := cmd.Confirm(ctx, w.d, w.o.Common, "taking an environment back",
			"Delete the Stacks of "+w.stack+", and destroy nothing?"); err != nil {
			return err
		}
		if err := w.Release(ctx); err != nil {
			return err
		}
		return w.conclude(nil, "the Stacks are gone; `runner preview -s "+w.stack+"` shows its state\n")
	}
	if err := w.Adopt(ctx); err != nil {
		return err
	}
	return w.show(ctx)
}
