// Package operators has the commands about environments that the Pulumi Kubernetes
// Operator runs.
package operators

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/kube/kubeconfig"
	"mara/runner/internal/kube/pko"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
)

// Command returns `runner operator`, with its subcommands.
func Command(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "operator", Usage: "watch, hand over and delete what the Pulumi Kubernetes Operator runs",
		Description: "Finds the Stacks that `runner export operator` wrote for an environment by their labels, in " +
			"the cluster of --kubeconfig and the namespace of --namespace. The operator runs their programs " +
			"there.\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Subcommands: []*cli.Command{statusCommand(d), waitCommand(d), deleteCommand(d), adoptCommand(d)},
	}
}

type options struct {
	cmd.Common
	Namespace  string
	Kubeconfig string        // file; "" for kubectl's
	Timeout    time.Duration // 0 for none
	Back       bool          // of adopt
	Commit     string        // of wait: the one that has to have been tried; "" for any
}

// flags returns the given flags and the common ones.
func flags(own ...cli.Flag) []cli.Flag {
	return cmd.JoinFlags(own, []cli.Flag{
		&cli.StringFlag{Name: "namespace", Aliases: []string{"n"}, Value: "pulumi", Usage: "look into the namespace `NAME`"},
		&cli.StringFlag{Name: "kubeconfig", Usage: "use the cluster of this `FILE` (default: kubectl's)"},
		&cli.StringFlag{Name: "stack", Aliases: []string{"s"}, Category: cmd.CommonCategory,
			Usage: "use the stack `NAME` (default: PULUMI_STACK)"},
	}, cmd.OutputFlag("text", "json"), cmd.RootFlags(), cmd.BaseFlags())
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
		return o, failure.Usagef(cmd.Path(c), "--commit: %q is not a commit; `git rev-parse HEAD` prints one", o.Commit)
	}
	return o, nil
}

// commits are those of git, in full or their first digits.
var commits = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// work is a command at work on the Stacks of an environment.
type work struct {
	pko.Watcher
	d     cmd.Deps
	o     options
	stack string
}

// action has a command work on the environment's Stacks, until the timeout if there
// is one.
func action(d cmd.Deps, run func(work, context.Context) error) cli.ActionFunc {
	return cmd.Action(d, parse, func(ctx context.Context, d cmd.Deps, o options) error {
		w, err := newWork(d, o)
		if err != nil {
			return err
		}
		cancel := func() {}
		if o.Timeout > 0 {
			ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("not done after %s; the same command goes on "+
				"waiting", o.Timeout))
		}
		defer cancel()
		err = run(w, ctx)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return w.explain(err)
	})
}

func newWork(d cmd.Deps, o options) (work, error) {
	stack, err := config.ResolveStack(o.Stack, o.Sources)
	if err != nil {
		return work{}, err
	}
	env := o.Sources.File.Merge(o.Sources.Process)
	content, err := readKubeconfig(d, o, env)
	if err != nil {
		return work{}, err
	}
	cluster, err := pko.Connect(content, env, o.Namespace, stack.Text)
	const every = 500 * time.Millisecond
	watcher := pko.Watcher{Cluster: cluster, Commit: o.Commit, Every: every, Sleep: interrupt.Sleep,
		Tell: func(s pko.State) { tell(d, s) }}
	return work{watcher, d, o, stack.Text}, err
}

func readKubeconfig(d cmd.Deps, o options, env map[string]string) ([]byte, error) {
	files := []string{d.Absolute(o.Kubeconfig)}
	if o.Kubeconfig == "" {
		files = kubeconfig.Files(env["KUBECONFIG"], env["HOME"])
	}
	var errs []error
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil {
			return content, nil
		}
		errs = append(errs, err)
	}
	return nil, &failure.Environment{Text: "there is no kubeconfig: " + errors.Join(errs...).Error(),
		Next: "name one with --kubeconfig"}
}

// tell prints what has become of a Stack: to stderr, for results are on stdout.
func tell(d cmd.Deps, s pko.State) {
	text := s.Name + " " + string(s.Phase)
	if s.Cause != "" {
		text += ": " + s.Cause
	}
	fmt.Fprintln(d.Stderr, text)
}

// list lists the Stacks, of which there has to be one.
func (w work) list(ctx context.Context) ([]pko.State, error) {
	states, err := w.List(ctx)
	if err == nil && len(states) == 0 {
		err = pko.ErrNoStacks
	}
	return states, err
}

// conclude tells how the Stacks are now: to machines, or in these words.
func (w work) conclude(states []pko.State, text string) error {
	return w.o.Show(w.d, document{version, w.stack, w.o.Namespace, append([]pko.State{}, states...)}, text)
}

func (w work) explain(err error) error {
	var stalled *pko.StalledError
	switch {
	case errors.Is(err, pko.ErrNoStacks):
		return &failure.Environment{
			Text: fmt.Sprintf("%s has no Stacks in the namespace %s", w.stack, w.o.Namespace),
			Next: "`runner export operator` writes them; -n names another namespace",
		}
	case errors.As(err, &stalled):
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
	Version   int         `json:"version"`
	Stack     string      `json:"stack"`
	Namespace string      `json:"namespace"`
	Stacks    []pko.State `json:"stacks"`
}
