package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/event"
	"mara/runner/internal/executor"
	"mara/runner/internal/journal"
	"mara/runner/internal/plan"
	"mara/runner/internal/report"
	"mara/runner/internal/simulate"
	"mara/runner/internal/stacks"
	"mara/runner/internal/ui"
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
}

// operateFlags are the flags of up, preview, refresh and destroy.
func operateFlags() []cli.Flag {
	return joinFlags(
		outputFlag("text", "json"),
		[]cli.Flag{&cli.IntFlag{Name: "parallel", Value: defaultParallel, Usage: "run up to `N` projects at once; 1 follows the listed order exactly"}},
		environmentFlags(), confirmFlags(), simulationFlags(), pulumiFlags(), baseFlags(),
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
	o := operateOptions{sessionOptions: session, Operation: operation, Parallel: c.Int("parallel")}
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
	run.finish()
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

// run is where the events of an operation go: to the screen and to the journal.
type run struct {
	emitter *event.Emitter
	journal *journal.Journal
	runs    string
	screen  interface{ Err() error }
	tell    func(text string)
	opening string // a warning to begin with
}

// startRun opens the journal and the renderer.
func startRun(d Deps, o operateOptions, s *session) (*run, error) {
	r := &run{runs: filepath.Join(s.folder, "runs"), tell: func(string) {}}
	var err error
	r.journal, err = journal.Create(journal.Options{Dir: r.runs, Now: d.Now(), Warn: func(e event.Event) { r.emit(e) }})
	if err != nil {
		return nil, s.folderError(err)
	}
	var sink event.Sink
	if o.Output == "json" {
		screen := ui.NewJSON(d.Stdout)
		sink, r.screen = screen, screen
	} else {
		screen := ui.NewPlain(d.Stdout, ui.PlainOptions{Width: d.Width, Colour: o.Color, Next: nextSteps(o, s)})
		sink, r.screen = screen, screen
		r.tell = func(text string) { fmt.Fprintln(d.Stdout, text) }
	}
	r.emitter = event.NewEmitter(event.EmitterOptions{Run: r.journal.ID(), Masker: s.masker, Now: d.Now, Sinks: []event.Sink{sink, r.journal}})
	if len(s.madeUp) > 0 && (o.Operation == event.Up || o.Operation == event.Preview) {
		r.opening = "SIMULATED: made up throw-away values for " + strings.Join(s.madeUp, ", ")
	}
	return r, nil
}

// emit passes an event on; the first one is followed by what is to be said at
// the opening.
func (r *run) emit(e event.Event) {
	r.emitter.Emit(e)
	if e.Type == event.RunStarted && r.opening != "" {
		r.emitter.Emit(event.Event{Type: event.RunWarning, Message: r.opening})
	}
}

// finish completes the run's folder. What goes wrong here is no failure of the
// operation: the journal has already warned, or the report is missing.
func (r *run) finish() {
	r.emitter.Close()
	_ = r.journal.Close()
	if path, err := r.writeReport(); err == nil {
		r.tell("Report: " + path)
	}
	_, _ = journal.Prune(r.runs, journal.Keep)
}

// writeReport makes the run's page from its summary.
func (r *run) writeReport() (string, error) {
	summary, err := journal.Run{ID: r.journal.ID(), Dir: r.journal.Dir()}.Summary()
	if err != nil {
		return "", err
	}
	path := filepath.Join(r.journal.Dir(), "report.html")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	return path, errors.Join(report.Write(file, report.HTML, summary), file.Close())
}

// nextSteps are the commands to type after a run.
func nextSteps(o operateOptions, s *session) func(*event.Summary) []string {
	suffix := " -s " + s.settings.Stack.Text
	if o.Simulation.On {
		suffix += " --simulate"
	}
	return func(summary *event.Summary) []string {
		if summary.Outcome() != event.Succeeded {
			return []string{"runner " + o.Operation + suffix + "   # carries on with what is left"}
		}
		switch o.Operation {
		case event.Up:
			return []string{"runner outputs" + suffix, "runner status" + suffix}
		case event.Preview:
			return []string{"runner up" + suffix}
		case event.Refresh:
			return []string{"runner preview" + suffix}
		}
		return nil
	}
}

// defaultSpeed is how fast simulated clouds are unless told otherwise.
const defaultSpeed = simulate.DefaultSpeed
