// Package operator has the commands about environments that the Pulumi Kubernetes
// Operator runs.
package operator

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/typeset"
)

// Command returns `runner operator`, with its subcommands.
func Command(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "operator", Usage: "watch, hand over and delete what the Pulumi Kubernetes Operator runs",
		Description: "Finds the Stacks that `runner export operator` wrote for an environment by their labels, in " +
			"the environment's own cluster, or that of --kubeconfig, and in the namespace of --namespace. The " +
			"operator runs their programs there. The kubeconfig of the environment's own cluster is a secret output, " +
			"which needs the passphrase. Which context of kubectl is current does not matter.\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Subcommands: []*cli.Command{statusCommand(d), waitCommand(d), deleteCommand(d), adoptCommand(d)},
	}
}

type options struct {
	cmd.Common
	Namespace  string
	Kubeconfig string        // file; "" for that of the environment's own cluster
	Timeout    time.Duration // 0 for none
	Back       bool          // of adopt
	Commit     string        // of wait: the one that has to have been tried; "" for any
}

// flags returns the given flags and the common ones.
func flags(own ...cli.Flag) []cli.Flag {
	return cmd.JoinFlags(own, []cli.Flag{
		&cli.StringFlag{Name: "namespace", Aliases: []string{"n"}, Value: "pulumi",
			Usage: "look into the namespace `NAME`"},
		&cli.StringFlag{Name: "kubeconfig", Usage: "use the cluster of this `FILE` (default: the environment's own)"},
	}, cmd.OutputFlag("text", "json"), cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags())
}

func timeoutFlag() cli.Flag {
	return &cli.DurationFlag{Name: "timeout", Usage: "give up after `DURATION`", DefaultText: "none"}
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	o := options{
		Common: common, Namespace: c.String("namespace"), Kubeconfig: c.String("kubeconfig"),
		Timeout: c.Duration("timeout"), Back: c.Bool("back"), Commit: c.String("commit"),
	}
	switch {
	case o.Timeout < 0:
		return o, failure.Usagef(cmd.Path(c), "--timeout: %s is less than 0", o.Timeout)
	case o.Commit != "" && !commits.MatchString(o.Commit):
		return o, failure.Usagef(cmd.Path(c), "--commit: %q is not a commit; `git rev-parse HEAD` prints one",
			o.Commit)
	}
	return o, nil
}

// commits are those of git, in full or their first digits.
var commits = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// work is a command at work on the Stacks of an environment.
type work struct {
	Watcher
	d     cmd.Deps
	o     options
	stack string
}

// action has a command work on the environment's Stacks, until the timeout if there
// is one.
func action(d cmd.Deps, run func(work, context.Context) error) cli.ActionFunc {
	return cmd.Action(d, parse, func(ctx context.Context, d cmd.Deps, o options) error {
		w, err := newWork(ctx, d, o)
		if err != nil {
			return err
		}
		if o.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout,
				fmt.Errorf("not done after %s; the same command continues to wait", o.Timeout))
			defer cancel()
		}
		if err = run(w, ctx); err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return w.explain(err)
	})
}

func newWork(ctx context.Context, d cmd.Deps, o options) (work, error) {
	stack, err := config.ResolveStack(o.Stack, o.Sources)
	if err != nil {
		return work{}, err
	}
	content, err := readKubeconfig(ctx, d, o)
	if err != nil {
		return work{}, err
	}
	cluster, err := Connect(content, o.Sources.Looking(), o.Namespace, stack.Text)
	const every = 500 * time.Millisecond
	watcher := Watcher{Cluster: cluster, Commit: o.Commit, Every: every, Sleep: interrupt.Sleep,
		Tell: func(s State) { // to stderr, for results are on stdout
			fmt.Fprintln(d.Stderr, s.Name+" "+strings.TrimSuffix(string(s.Phase)+": "+s.Cause, ": "))
		}}
	return work{watcher, d, o, stack.Text}, err
}

func readKubeconfig(ctx context.Context, d cmd.Deps, o options) (content []byte, err error) {
	const next = "name the cluster where the operator runs with --kubeconfig FILE"
	if o.Kubeconfig != "" {
		if content, err = files.Read(d.Absolute(o.Kubeconfig), files.Text); err != nil {
			return nil, &failure.Environment{Text: "there is no kubeconfig: " + err.Error(), Next: next}
		}
		return content, nil
	}
	err = session.Use(d.Deps, o.Options, session.Resolve, func(s *session.Resolved) error {
		content, err = cmd.OpenCluster(ctx, s)
		return err
	})
	if none, ok := errors.AsType[*cmd.NoClusterError](err); ok {
		none.Next = next
	}
	return content, err
}

// list lists the Stacks, of which there has to be one.
func (w work) list(ctx context.Context) ([]State, error) {
	states, err := w.List(ctx)
	if err == nil && len(states) == 0 {
		err = ErrNoStacks
	}
	return states, err
}

// conclude tells how the Stacks are now: to machines, or in these words.
func (w work) conclude(states []State, text string) error {
	return w.o.Show(w.d, document{version, w.stack, w.o.Namespace, append([]State{}, states...)}, text)
}

func (w work) explain(err error) error {
	if errors.Is(err, ErrNoStacks) {
		return &failure.Environment{
			Text: fmt.Sprintf("%s has no Stacks in the namespace %s", w.stack, w.o.Namespace),
			Next: "`runner export operator` writes them; -n names another namespace",
		}
	}
	if stalled, ok := errors.AsType[*StalledError](err); ok {
		return failure.Advise(stalled, fmt.Sprintf(
			"`kubectl -n %s describe stack %s` shows details; once the cause is fixed, annotate it with "+
				"pulumi.com/reconciliation-request=$(date +%%s)", w.o.Namespace, stalled.Stacks[0].Name))
	}
	return err
}

// version of the documents changes when a field changes its meaning or is removed.
const version = 1

// document is how the Stacks are, for machines.
type document struct {
	Version   int     `json:"version"`
	Stack     string  `json:"stack"`
	Namespace string  `json:"namespace"`
	Stacks    []State `json:"stacks"`
}

func statusCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show the states of an environment's Stacks",
		Description: "Lists the Stacks in order, prerequisites first, with their states: ready, reconciling, " +
			"waiting for another Stack, stalled with the cause, deleting, or unseen until the operator has observed " +
			"the current version.\n\n" +
			"Examples:\n  runner operator status -s dev\n  runner operator status -s dev -n envs -o json\n" +
			"  runner operator status -s dev --kubeconfig management.yaml\n\n" +
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
		last := cmd.OrDash(s.Last)
		if s.LastAt != nil {
			last += " " + typeset.Ago(w.d.Now().Sub(*s.LastAt))
		}
		commit := fmt.Sprintf("%.12s", s.Commit)
		table.Rows = append(table.Rows, []string{s.Name, string(s.Phase), last, commit, s.Cause})
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
			"  runner operator wait -s dev --commit 3f2a9c1\n" +
			"  runner operator wait -s dev -n envs -o json\n" +
			"  runner operator wait -s dev --commit $(git rev-parse HEAD)\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: flags(timeoutFlag(), &cli.StringFlag{Name: "commit",
			Usage: "wait until Stacks that follow a branch or Flux have tried this `COMMIT`"}),
		Action: action(d, func(w work, ctx context.Context) error {
			if err := w.Wait(ctx); err != nil {
				return err
			}
			return w.show(ctx)
		}),
	}
}

func adoptCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "adopt", Usage: "hand a deployed environment over to the operator, or take it back",
		Description: "Works on Stacks that were exported with --preview, on the backend of the deployed " +
			"environment: they only preview, and fail if they find changes. When no Stack has found any, they are " +
			"switched to updates; nothing changes in the environment. With --back the Stacks are deleted and all " +
			"resources stay: the runner works on the environment again.\n\n" +
			"Examples:\n  runner operator adopt -s dev\n  runner operator adopt -s dev --back --yes\n" +
			"  runner operator adopt -s dev -n envs --timeout 1h\n\n" +
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
			"Examples:\n  runner operator delete -s dev --timeout 2h\n" +
			"  runner operator delete -s dev --yes\n  runner operator delete -s dev -n envs\n\n" +
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
	all := typeset.Counted(len(states), "Stack")
	destroying := slices.DeleteFunc(states, func(s State) bool { return !s.Destroys })
	question := "Delete " + all + " of " + w.stack + "? " + typeset.Counted(len(destroying), "project") +
		" will be destroyed, everything else stays."
	if err := cmd.Confirm(ctx, w.d, w.o.Common, "deleting Stacks", question); err != nil {
		return err
	}
	if err := w.Delete(ctx); err != nil {
		return err
	}
	return w.conclude(nil, "deleted "+all+"\n")
}
