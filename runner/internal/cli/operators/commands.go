package operators

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
)

func statusCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show the states of an environment's Stacks",
		Description: "Lists the Stacks in order, prerequisites first, with their states: ready, reconciling, " +
			"waiting for another Stack, stalled with the cause, deleting, or unseen until the operator has observed " +
			"the current version.\n\n" +
			"Examples:\n  runner operator status -s dev\n  runner operator status -s dev -n envs -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags:  flags(),
		Action: action(d, work.show),
	}
}

func (w work) show(ctx context.Context) error {
	states, err := w.list(ctx)
	if err != nil {
		return err
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "STACK"}, {Title: "STATE"}, {Title: "LAST"},
		{Title: "COMMIT", Optional: true}, {Title: "CAUSE", Min: 20, Wrap: true}}}
	for _, s := range states {
		last, commit := cmd.OrDash(s.Last), s.Commit
		if s.LastAt != nil {
			last += " " + cmd.Ago(w.d.Now().Sub(*s.LastAt))
		}
		const short = 12
		table.Rows = append(table.Rows, []string{s.Name, string(s.Phase), last, commit[:min(short, len(commit))], s.Cause})
	}
	return w.conclude(states, table.Text(w.d.Width()))
}

func waitCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "wait", Usage: "wait until all Stacks of an environment are ready",
		Description: "Reports each change on stderr. It ends with code 1 when a Stack is stalled, because the " +
			"operator does not retry it.\n\n" +
			"The operator looks for new commits once a minute. Until then Stacks show the result of the previous " +
			"commit: after a push, name the commit with --commit.\n\n" +
			"Examples:\n  runner operator wait -s dev --timeout 1h\n" +
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

func adoptCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "adopt", Usage: "hand a deployed environment over to the operator, or take it back",
		Description: "Works on Stacks that were exported with --preview, on the backend of the deployed " +
			"environment: they only preview, and fail if they find changes. When no Stack has found any, they are " +
			"switched to updates; nothing changes in the environment. With --back the Stacks are deleted and all " +
			"resources stay: the runner works on the environment again.\n\n" +
			"Examples:\n  runner operator adopt -s dev\n  runner operator adopt -s dev --back --yes\n\n" +
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

func deleteCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "delete", Usage: "delete the Stacks of an environment, in order",
		Description: "Deletes the Stacks in order, dependents first, and waits until they are gone before it " +
			"deletes what they needed; the operator itself has no order. A Stack that was exported with --destroy " +
			"destroys its resources. A stalled Stack ends the command, so that its prerequisites stay; the same " +
			"command continues. First take the Stacks out of Flux or Argo CD, which would create them again.\n\n" +
			"Examples:\n  runner operator delete -s dev --timeout 2h\n  runner operator delete -s dev --yes\n\n" +
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
