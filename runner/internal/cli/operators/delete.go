package operators

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
)

func deleteCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "delete", Usage: "delete the Stacks of an environment, in order",
		Description: "Deletes the Stacks in order, dependents first, and waits until they are gone before it deletes what\n" +
			"they needed; the operator itself has no order. A Stack that was exported with --destroy destroys its\n" +
			"resources. A stalled Stack ends the command, so that its prerequisites stay; the same command\n" +
			"continues. First take the Stacks out of Flux or Argo CD, which would create them again.\n\n" +
			"Examples:\n" +
			"  runner operator delete -s dev --timeout 2h\n" +
			"  runner operator delete -s dev --yes\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags:  flags(append(cmd.ConfirmFlags(), timeoutFlag())...),
		Action: action(d, work.remove),
	}
}

func (w work) remove(ctx context.Context) error {
	states, err := w.list(ctx)
	if err != nil {
		return err
	}
	destroying := 0
	for _, s := range states {
		if s.Destroys {
			destroying++
		}
	}
	question := "Delete " + typeset.Counted(len(states), "Stack") + " of " + w.stack + "? " +
		typeset.Counted(destroying, "project") + " will be destroyed, everything else stays."
	if err := cmd.Confirm(ctx, w.d, w.o.Common, "deleting Stacks", question); err != nil {
		return err
	}
	if err := w.Delete(ctx); err != nil {
		return err
	}
	return w.conclude(nil, "deleted "+typeset.Counted(len(states), "Stack")+"\n")
}
