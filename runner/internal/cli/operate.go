package cli

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/event"
	"mara/runner/internal/executor"
	"mara/runner/internal/plan"
	"mara/runner/internal/simulate"
	"mara/runner/internal/stacks"
)

// defaultParallel is how many projects run at once unless told otherwise.
const defaultParallel = 4

// sessionOptions are the options of every command that opens an environment.
type sessionOptions struct {
	commonOptions
	Pulumi string // path of an installed Pulumi; "" for the engine inside
}

// operateOptions are the options of up, preview, refresh and destroy.
type operateOptions struct {
	sessionOptions
	Operation string
	Parallel  int
	Show      showOptions
}

// operateFlags are the flags of up, preview, refresh and destroy.
func operateFlags() []cli.Flag {
	return joinFlags(
		outputFlag("text", "json"),
		[]cli.Flag{&cli.IntFlag{Name: "parallel", Value: defaultParallel, Usage: "run up to `N` projects at once; 1 follows the listed order exactly"}},
		showFlags(), environmentFlags(), confirmFlags(), simulationFlags(), pulumiFlags(), baseFlags(),
	)
}

// operationCommand makes the command of an operation; the operations differ in
// words only.
func operationCommand(d Deps, operation, use, description string, aliases ...string) *cli.Command {
	return &cli.Command{
		Name:        operation,
		Aliases:     aliases,
		Usage:       use,
		Description: description + "\n\n" + exitText(exitDone, exitFailed, exitUsage, exitConfig, exitLocked, exitInterrupted),
		Flags:       operateFlags(),
		Action: func(c *cli.Context) error {
			options, err := parseOperate(c, d, operation)
			if err != nil {
				return err
			}
			return runOperate(c.Context, d, options)
		},
	}
}

func parseOperate(c *cli.Context, d Deps, operation string) (operateOptions, error) {
	session, err := parseSession(c, d)
	if err != nil {
		return operateOptions{}, err
	}
	if _, err := arguments(c, 0); err != nil {
		return operateOptions{}, err
	}
	o := operateOptions{sessionOptions: session, Operation: operation, Parallel: c.Int("parallel"), Show: parseShow(c)}
	if o.Parallel < 1 {
		return operateOptions{}, usage(operation, "--parallel: %d is not a number above 0", o.Parallel)
	}
	return o, nil
}

func parseSession(c *cli.Context, d Deps) (sessionOptions, error) {
	common, err := parseCommon(c, d)
	return sessionOptions{commonOptions: common, Pulumi: c.String("pulumi")}, err
}

// runOperate is the workflow: open the environment, ask, walk the plan, and
// tell what came of it.
func runOperate(ctx context.Context, d Deps, o operateOptions) (err error) {
	s, err := openSession(ctx, d, o.sessionOptions, toOperate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := confirm(d, o, s); err != nil {
		return err
	}
	if o.Operation == event.Up {
		if err := s.rememberProvider(); err != nil {
			return err
		}
	}
	run, err := startRun(d, o, s)
	if err != nil {
		return err
	}
	stop, release := d.gentle()
	defer release()
	walked := s.plan
	if o.Operation == event.Destroy {
		walked = walked.Reverse()
	}
	_, err = executor.Run(ctx, executor.Options{
		Plan:      walked,
		Operation: o.Operation,
		Stack:     s.settings.Stack.Text,
		Simulated: o.Simulation.On,
		Parallel:  o.Parallel,
		Operator:  operator{stacks: s.stacks, operation: o.Operation},
		Hook:      s.hook(o.Operation),
		Emit:      run.emit,
		Stop:      stop,
	})
	run.finish(d, o)
	if err != nil {
		return &reported{code: exitCode(err)}
	}
	return nil
}

// operator does a step's work on its stack.
type operator struct {
	stacks    *stacks.Environment
	operation string
}

// Operate implements executor.Operator.
func (o operator) Operate(ctx context.Context, step plan.Step, emit func(event.Event)) (executor.Outcome, error) {
	outcome, err := o.stacks.Operate(ctx, o.operation, step, emit)
	return executor.Outcome{Changes: outcome.Changes, Skipped: outcome.Skipped}, err
}

// defaultSpeed is how fast simulated clouds are unless told otherwise.
const defaultSpeed = simulate.DefaultSpeed
