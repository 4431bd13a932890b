// Package cli is the command line: one file for each command, which declares
// its flags, parses them to options and runs. Everything from outside comes in
// through Deps; nothing is global, so that commands run side by side in tests.
//
// The way of a call: arguments.go puts flags and arguments in order and finds
// the command, its parse function makes options (options.go for those that many
// commands share), its run function works, and exit.go turns an error into
// words and an exit code.
package cli

import (
	"context"
	"fmt"
	"io"

	"mara/runner/internal/session"

	"github.com/urfave/cli/v2"
)

// name is the name of the program in texts.
const name = "runner"

// Deps is the outside world.
type Deps struct {
	session.Deps
	Stdout           io.Writer
	StdoutIsTerminal bool
	StderrIsTerminal bool
	Environ          []string                   // NAME=value each
	Version          string                     // of the runner
	PulumiVersion    string                     // of the Pulumi inside
	Size             func() (width, height int) // of the terminal at stdout; zeros when it is none
}

// width is the width of the terminal at stdout; 0 when it is none.
func (d Deps) width() int {
	if d.Size == nil {
		return 0
	}
	width, _ := d.Size()
	return width
}

// gentle announces a run that the first Ctrl-C stops without cancelling it.
func (d Deps) gentle() (stop <-chan struct{}, release func()) {
	if d.Interrupt == nil {
		return nil, func() {}
	}
	return d.Interrupt.Gentle()
}

// commands lists every command, in the order of the help text.
func commands(d Deps) []*cli.Command {
	return []*cli.Command{
		initCommand(d),
		providersCommand(d),
		planCommand(d),
		configCommand(d),
		doctorCommand(d),
		previewCommand(d),
		upCommand(d),
		refreshCommand(d),
		driftCommand(d),
		destroyCommand(d),
		stacksCommand(d),
		statusCommand(d),
		outputsCommand(d),
		secretsCommand(d),
		unlockCommand(d),
		repairCommand(d),
		historyCommand(d),
		showCommand(d),
		logsCommand(d),
		reportCommand(d),
		envCommand(d),
		pulumiCommand(d),
		schemaCommand(d),
		completionCommand(d, func() []*cli.Command { return commands(d) }),
		versionCommand(d),
	}
}

// Run runs the command that args (without the program's name) ask for and
// returns the exit code.
func Run(ctx context.Context, d Deps, args []string) int {
	d.Stdout = newOutlet(d.Stdout, d.StdoutIsTerminal)
	err := execute(ctx, d, args)
	printError(d.Stderr, err)
	return exitCode(err)
}

func execute(ctx context.Context, d Deps, args []string) error {
	all := commands(d)
	call, err := arrange(all, args)
	if err != nil {
		return err
	}
	if call.help {
		_, err := fmt.Fprint(d.Stdout, fitHelp(helpText(all, call.command, call.path), d.width()))
		return err
	}
	return newApp(d, all).RunContext(ctx, append([]string{name}, call.args...))
}

// newApp leaves to urfave what it does well, which is to parse and dispatch.
// Help, errors and exit codes are our own: its handler would end the process
// inside Run.
func newApp(d Deps, all []*cli.Command) *cli.App {
	for _, command := range all {
		quiet(command)
	}
	return &cli.App{
		Name:                      name,
		Commands:                  all,
		HideHelp:                  true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Reader:                    d.Stdin,
		Writer:                    d.Stdout,
		ErrWriter:                 d.Stderr,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              onUsageError,
	}
}

func quiet(command *cli.Command) {
	command.HideHelp = true
	command.OnUsageError = onUsageError
	for _, sub := range command.Subcommands {
		quiet(sub)
	}
}
