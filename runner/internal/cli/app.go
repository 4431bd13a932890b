// Package cli is the command line: it collects the commands of the core and of the features, and runs one. Each group
// of the core's commands is a package, and each command a file that declares its flags, parses them into
// options and runs. All dependencies come in through cmd.Deps; nothing is global, so tests
// can run commands in parallel.
//
// For each call, arguments.go sorts flags and arguments and finds the command, the command's
// parse function makes its options (cmd/options.go has the common ones), its run function does
// the work, and cmd/exit.go turns an error into a message and an exit code.
package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/configuration"
	"mara/runner/internal/cli/extend"
	"mara/runner/internal/cli/help"
	"mara/runner/internal/cli/inspect"
	"mara/runner/internal/cli/operations"
	"mara/runner/internal/cli/runs"
	"mara/runner/internal/cli/secrets"
	"mara/runner/internal/cli/tools"
	"mara/runner/internal/core/pulumicli"
	"mara/runner/internal/machine/interrupt"
)

// core returns the commands that are part of every runner.
func core(d cmd.Deps, run cmd.RunFunc, all func() []*cli.Command) []cmd.Placed {
	placed := []cmd.Placed{
		{Command: inspect.Status(d), Group: cmd.OneEnvironment, Rank: 10, Daily: true},
		{Command: inspect.Outputs(d), Group: cmd.OneEnvironment, Rank: 20, Daily: true},
		{Command: inspect.Plan(d), Group: cmd.OneEnvironment, Rank: 30, Daily: true},
		{Command: configuration.Command(d), Group: cmd.OneEnvironment, Rank: 40, Daily: true},
		{Command: secrets.Command(d), Group: cmd.OneEnvironment, Rank: 50, Daily: true},
		{Command: tools.Login(d), Group: cmd.OneEnvironment, Rank: 165},
		{Command: tools.Pulumi(d), Group: cmd.OneEnvironment, Rank: 170},
		{Command: operations.Hook(d), Group: cmd.OneEnvironment, Rank: 180},
		{Command: inspect.Stacks(d), Group: cmd.AllEnvironments, Rank: 20, Daily: true},
		{Command: runs.History(d), Group: cmd.PastRuns, Rank: 10, Daily: true},
		{Command: runs.Show(d), Group: cmd.PastRuns, Rank: 20},
		{Command: runs.Logs(d), Group: cmd.PastRuns, Rank: 30, Daily: true},
		{Command: runs.Report(d), Group: cmd.PastRuns, Rank: 40, Daily: true},
		{Command: runs.Support(d, run), Group: cmd.PastRuns, Rank: 50},
		{Command: operations.Unlock(d), Group: cmd.PastRuns, Rank: 60, Daily: true},
		{Command: operations.Repair(d), Group: cmd.PastRuns, Rank: 70},
		{Command: operations.State(d), Group: cmd.PastRuns, Rank: 80},
		{Command: inspect.Providers(d), Group: cmd.More, Rank: 10},
		{Command: tools.Env(d), Group: cmd.More, Rank: 50},
		{Command: tools.Schema(d), Group: cmd.More, Rank: 60},
		{Command: tools.Completion(d, all), Group: cmd.More, Rank: 70},
		{Command: tools.Version(d), Group: cmd.More, Rank: 80},
	}
	return append(placed, operations.Commands(d)...)
}

// Commands returns every command, in the order of the help.
func Commands(d cmd.Deps, features []extend.Feature) []cmd.Placed {
	run := func(ctx context.Context, d cmd.Deps, args []string) int { return Run(ctx, d, features, args) }
	placed := core(d, run, func() []*cli.Command { return plain(Commands(d, features)) })
	for _, feature := range features {
		if feature.Commands != nil {
			placed = append(placed, feature.Commands(d)...)
		}
	}
	return cmd.Sort(placed)
}

// plain returns commands without their places.
func plain(placed []cmd.Placed) []*cli.Command {
	return lists.Map(placed, func(p cmd.Placed) *cli.Command { return p.Command })
}

// Run runs the command line with the commands of these features, and returns the exit code.
func Run(ctx context.Context, d cmd.Deps, features []extend.Feature, args []string) int {
	d.Stdout = cmd.NewOutlet(d.Stdout, d.StdoutIsTerminal)
	d.Variables = func() []string {
		return append(variablesOf(plain(Commands(d, features))), pulumicli.ConnectionsVariable)
	}
	err := execute(ctx, d, features, args)
	width := 0
	if d.StderrIsTerminal {
		width = d.Width()
	}
	cmd.PrintError(d.Stderr, width, err)
	if err != nil && errors.Is(context.Cause(ctx), interrupt.ErrInterrupted) {
		return cmd.ExitInterrupted // whatever has failed since the signal, such as releasing a lock, is a consequence of it
	}
	return cmd.ExitCode(err)
}

func execute(ctx context.Context, d cmd.Deps, features []extend.Feature, args []string) error {
	if len(args) == 0 {
		return d.Print(welcome(d, plain(Commands(d, features))))
	}
	placed := Commands(d, features)
	all := plain(placed)
	if program := tools.Extension(d, all, args); program != "" {
		return tools.RunExtension(ctx, d, program, args)
	}
	call, err := arrange(all, args)
	if err != nil {
		return err
	}
	if call.topic != "" {
		return d.Print(help.Fit(call.topic, d.Width()))
	}
	if call.help {
		return d.Print(help.Fit(help.Text(placed, call.command, call.path, call.everything), d.Width()))
	}
	if !slices.Contains(looks(features), call.path) {
		return newApp(d, all).RunContext(ctx, append([]string{cmd.Program}, call.args...))
	}
	return look(ctx, d, call.path, func(d cmd.Deps) error {
		return newApp(d, plain(Commands(d, features))).RunContext(ctx, append([]string{cmd.Program}, call.args...))
	})
}

// newApp returns an app of urfave/cli that parses and dispatches. Its default error handler
// would exit the process inside Run.
func newApp(d cmd.Deps, all []*cli.Command) *cli.App {
	for _, command := range all {
		quiet(command)
	}
	return &cli.App{
		Name:                      cmd.Program,
		Commands:                  all,
		HideHelp:                  true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Reader:                    d.Stdin,
		Writer:                    d.Stdout,
		ErrWriter:                 d.Stderr,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              cmd.OnUsageError,
	}
}

// variablesOf returns the environment variables that commands read.
func variablesOf(all []*cli.Command) []string {
	names := lists.Map(cmd.AllFlags(all), cmd.VariableOf)
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

func quiet(command *cli.Command) {
	command.HideHelp = true
	command.OnUsageError = cmd.OnUsageError
	for _, sub := range command.Subcommands {
		quiet(sub)
	}
}
