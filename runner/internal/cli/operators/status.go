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
		Action: cmd.Action(d, parse, runStatus),
	}
}

func runStatus(ctx context.Context, d cmd.Deps, o options) error {
	w, stack, err := watcher(d, o)
	if err != nil {
		return err
	}
	return show(ctx, d, o, w, stack)
}

// list lists the Stacks, of which there has to be one.
func list(ctx context.Context, o options, w pko.Watcher, stack string) ([]pko.State, error) {
	states, err := w.List(ctx)
	if err == nil && len(states) == 0 {
		err = pko.ErrNoStacks
	}
	return states, explain(o, stack, err)
}

func show(ctx context.Context, d cmd.Deps, o options, w pko.Watcher, stack string) error {
	states, err := list(ctx, o, w, stack)
	if err != nil {
		return err
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "STACK"}, {Title: "STATE"}, {Title: "LAST"}, {Title: "COMMIT", Optional: true}, {Title: "CAUSE", Min: 20, Wrap: true}}}
	for _, s := range states {
		last, commit := cmd.OrDash(s.Last), s.Commit
		if s.LastAt != nil {
			last += " " + cmd.Ago(d.Now().Sub(*s.LastAt))
		}
		const short = 12
		table.Rows = append(table.Rows, []string{s.Name, string(s.Phase), last, commit[:min(short, len(commit))], s.Cause})
	}
	return o.Show(d, document{version, stack, o.Namespace, append([]pko.State{}, states...)}, table.Text(d.Width()))
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
		Action: cmd.Action(d, parse, runWait),
	}
}

func runWait(ctx context.Context, d cmd.Deps, o options) error {
	w, stack, err := watcher(d, o)
	if err != nil {
		return err
	}
	w.Commit = o.Commit
	ctx, cancel := limited(ctx, o)
	defer cancel()
	if err := w.Wait(ctx); err != nil {
		return explain(o, stack, ended(ctx, err))
	}
	return show(ctx, d, o, w, stack)
}

// ended is why a context has ended, where that is why something failed.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
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
		Action: cmd.Action(d, parse, runDelete),
	}
}

func runDelete(ctx context.Context, d cmd.Deps, o options) error {
	w, stack, err := watcher(d, o)
	if err != nil {
		return err
	}
	ctx, cancel := limited(ctx, o)
	defer cancel()
	states, err := list(ctx, o, w, stack)
	if err != nil {
		return err
	}
	destroying := 0
	for _, s := range states {
		if s.Destroys {
			destroying++
		}
	}
	question := "Delete " + typeset.Counted(len(states), "Stack") + " of " + stack + "? " + typeset.Counted(destroying, "project") + " will be destroyed, everything else stays."
	if err := cmd.Confirm(ctx, d, o.Common, "deleting Stacks", question); err != nil {
		return err
	}
	if err := w.Delete(ctx); err != nil {
		return explain(o, stack, ended(ctx, err))
	}
	return done(d, o, stack, "deleted "+typeset.Counted(len(states), "Stack"))
}

// done tells that all went well, and how the Stacks are now to machines.
func done(d cmd.Deps, o options, stack, text string) error {
	return o.Show(d, document{version, stack, o.Namespace, []pko.State{}}, text+"\n")
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
		Action: cmd.Action(d, parse, runAdopt),
	}
}

func runAdopt(ctx context.Context, d cmd.Deps, o options) error {
	w, stack, err := watcher(d, o)
	if err != nil {
		return err
	}
	ctx, cancel := limited(ctx, o)
	defer cancel()
	if o.Back {
		if err := cmd.Confirm(ctx, d, o.Common, "taking an environment back", "Delete the Stacks of "+stack+", and destroy nothing?"); err != nil {
			return err
		}
		if err := w.Release(ctx); err != nil {
			return explain(o, stack, ended(ctx, err))
		}
		return done(d, o, stack, "the Stacks are gone; `runner preview -s "+stack+"` shows what there is")
	}
	if err := w.Adopt(ctx); err != nil {
		return explain(o, stack, ended(ctx, err))
	}
	return show(ctx, d, o, w, stack)
}
