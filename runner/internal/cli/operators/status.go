package operators

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/pko"
	"mara/runner/internal/typeset"
)

func statusCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show how the Stacks of an environment are",
		Description: "Shows each Stack, those that others need first: ready, reconciling, waiting for another one, stalled with the\n" +
			"cause, deleting, or unseen while the operator has not looked at it.\n\n" +
			"Examples:\n  runner operator status -s dev\n  runner operator status -s dev -n envs -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags:  flags(),
		Action: action(d, work.show),
	}
}

// list lists the Stacks, of which there has to be one.
func (w work) list(ctx context.Context) ([]pko.State, error) {
	states, err := w.List(ctx)
	if err == nil && len(states) == 0 {
		err = pko.ErrNoStacks
	}
	return states, err
}

func (w work) show(ctx context.Context) error {
	states, err := w.list(ctx)
	if err != nil {
		return err
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "STACK"}, {Title: "STATE"}, {Title: "LAST"}, {Title: "COMMIT", Optional: true}, {Title: "CAUSE", Min: 20, Wrap: true}}}
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
		Description: "Tells each change on stderr. It ends with code 1 when a Stack is stalled, for then nothing goes on by itself.\n\n" +
			"The operator asks for new commits once a minute. Until then Stacks are what the last commit has made of them:\n" +
			"after a push, name the commit with --commit.\n\n" +
			"Examples:\n  runner operator wait -s dev --timeout 1h\n  runner operator wait -s dev --commit $(git rev-parse HEAD)\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags:  flags(timeoutFlag(), &cli.StringFlag{Name: "commit", Usage: "wait until Stacks that follow a branch or Flux have tried this `COMMIT`"}),
		Action: action(d, work.waitFor),
	}
}

func (w work) waitFor(ctx context.Context) error {
	if err := w.Wait(ctx); err != nil {
		return err
	}
	return w.show(ctx)
}

func deleteCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "delete", Usage: "delete the Stacks of an environment, in order",
		Description: "Deletes the Stacks that nothing else needs first, waits until they are gone, and goes on with those that they\n" +
			"needed: the operator itself has no order for that. A Stack that was exported with --destroy destroys what it has\n" +
			"made. One that stalls ends it, so that what it needs stays; the same command carries on. Take the Stacks out of\n" +
			"Flux or Argo CD before, or those make them again.\n\n" +
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
	question := "Delete " + typeset.Counted(len(states), "Stack") + " of " + w.stack + "? " + typeset.Counted(destroying, "project") + " will be destroyed, everything else stays."
	if err := cmd.Confirm(ctx, w.d, w.o.Common, "deleting Stacks", question); err != nil {
		return err
	}
	if err := w.Delete(ctx); err != nil {
		return err
	}
	return w.conclude(nil, "deleted "+typeset.Counted(len(states), "Stack")+"\n")
}

// conclude tells how the Stacks are now: to machines, or in these words.
func (w work) conclude(states []pko.State, text string) error {
	return w.o.Show(w.d, document{version, w.stack, w.o.Namespace, append([]pko.State{}, states...)}, text)
}

func adoptCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "adopt", Usage: "hand a deployed environment over to the operator, or take it back",
		Description: "Goes on from Stacks that were exported with --preview, on the backend that the environment is deployed on: they\n" +
			"only preview, and fail where something would change. When all of them have found nothing, they are made to work,\n" +
			"and nothing has been changed. With --back the Stacks go and leave everything that is there: from then on the\n" +
			"runner works on it again.\n\n" +
			"Examples:\n  runner operator adopt -s dev\n  runner operator adopt -s dev --back --yes\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: flags(append(cmd.ConfirmFlags(), timeoutFlag(),
			&cli.BoolFlag{Name: "back", Usage: "take the environment back: delete the Stacks, and destroy nothing"})...),
		Action: action(d, work.adopt),
	}
}

func (w work) adopt(ctx context.Context) error {
	if w.o.Back {
		if err := cmd.Confirm(ctx, w.d, w.o.Common, "taking an environment back", "Delete the Stacks of "+w.stack+", and destroy nothing?"); err != nil {
			return err
		}
		if err := w.Release(ctx); err != nil {
			return err
		}
		return w.conclude(nil, "the Stacks are gone; `runner preview -s "+w.stack+"` shows what there is\n")
	}
	if err := w.Adopt(ctx); err != nil {
		return err
	}
	return w.show(ctx)
}
