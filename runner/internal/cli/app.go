// Package cli is the command line: it registers the commands and runs them. Each group of
// commands is a package, and each command a file that declares its flags, parses them into
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
	"mara/runner/internal/cli/help"
	"mara/runner/internal/cli/inspect"
	"mara/runner/internal/cli/operations"
	"mara/runner/internal/cli/runs"
	"mara/runner/internal/cli/secrets"
	"mara/runner/internal/cli/tools"
	"mara/runner/internal/core/pulumicli"
	accesscmd "mara/runner/internal/feature/access/command"
	backups "mara/runner/internal/feature/backup/command"
	"mara/runner/internal/feature/export"
	"mara/runner/internal/feature/firstrun"
	mirrors "mara/runner/internal/feature/mirror/command"
	operators "mara/runner/internal/feature/operator/command"
	"mara/runner/internal/feature/rollout/fleets"
	"mara/runner/internal/feature/trial"
	webcmd "mara/runner/internal/feature/web/command"
	"mara/runner/internal/machine/interrupt"
)

// commands returns every command, in the order of the help text.
func commands(d cmd.Deps) []*cli.Command {
	return slices.Concat([]*cli.Command{
		firstrun.Init(d),
		configuration.Adopt(d),
		configuration.Eject(d),
		configuration.Promote(d),
		configuration.Fetch(d),
		inspect.Providers(d),
		inspect.Plan(d),
		configuration.Command(d),
		inspect.Check(d),
		inspect.Doctor(d),
	}, operations.Commands(d), []*cli.Command{
		inspect.Stacks(d),
		inspect.Status(d),
		inspect.Outputs(d),
		inspect.Query(d),
		inspect.Policy(d),
		fleets.Command(d, append(operations.Rollouts(d), inspect.Check(d))...),
		operations.Hook(d),
		secrets.Command(d),
		accesscmd.Command(d),
		backups.Command(d),
		mirrors.Command(d),
		export.Render(d),
		export.Export(d),
		operators.Command(d),
		operations.Unlock(d),
		operations.Repair(d),
		operations.Upgrade(d),
		operations.State(d),
		runs.History(d),
		runs.Show(d),
		runs.Logs(d),
		runs.Report(d),
		runs.Support(d, Run),
		webcmd.Command(d),
		trial.Try(d, Run),
		trial.Demo(d, Run),
		tools.Env(d),
		tools.Pulumi(d),
		tools.Kubectl(d),
		tools.Stop(d),
		tools.Start(d),
		tools.Schema(d),
		tools.Completion(d, func() []*cli.Command { return commands(d) }),
		tools.Version(d),
	})
}

// Run runs the command line and returns the exit code.
func Run(ctx context.Context, d cmd.Deps, args []string) int {
	d.Stdout = cmd.NewOutlet(d.Stdout, d.StdoutIsTerminal)
	d.Variables = func() []string { return append(variablesOf(commands(d)), pulumicli.ConnectionsVariable) }
	err := execute(ctx, d, args)
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

func execute(ctx context.Context, d cmd.Deps, args []string) error {
	if len(args) == 0 {
		return d.Print(welcome(d))
	}
	all := commands(d)
	if program := tools.Extension(d, all, args); program != "" {
		return tools.RunExtension(ctx, d, program, args)
	}
	call, err := arrange(all, args)
	if err != nil {
		return err
	}
	if call.help {
		return d.Print(help.Fit(help.Text(all, call.command, call.path, call.everything), d.Width()))
	}
	return newApp(d, all).RunContext(ctx, append([]string{cmd.Program}, call.args...))
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
