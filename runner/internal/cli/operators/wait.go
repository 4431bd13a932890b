package operators

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
)

func waitCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "wait", Usage: "wait until all Stacks of an environment are ready",
		Description: "Reports each change on stderr. It ends with code 1 when a Stack is stalled, because the operator\n" +
			"does not retry it.\n\n" +
			"The operator looks for new commits once a minute. Until then Stacks show the result of the previous\n" +
			"commit: after a push, name the commit with --commit.\n\n" +
			"Examples:\n" +
			"  runner operator wait -s dev --timeout 1h\n" +
			"  runner operator wait -s dev --commit $(git rev-parse HEAD)\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: flags(timeoutFlag(), &cli.StringFlag{Name: "commit",
			Usage: "wait until Stacks that follow a branch or Flux have tried this `COMMIT`"}),
		Action: action(d, work.waitFor),
	}
}

func (w work) waitFor(ctx context.Context) error {
	if err := w.Wait(ctx); err != nil {
		return err
	}
	return w.show(ctx)
}
