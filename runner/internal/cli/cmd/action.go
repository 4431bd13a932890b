// Package cmd has what commands share: the outside world, flags and options,
// confirmation, output, errors and exit codes.
package cmd

import (
	"context"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/identity"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// Action returns an action that reads the flags that many commands share, then
// those of a command, and runs it.
func Action[O any](d Deps, parse func(*cli.Context, Deps, Common) (O, error),
	run func(context.Context, Deps, O) error) cli.ActionFunc {
	return CommonAction(d, func(c *cli.Context, d Deps) (o O, err error) {
		common, err := Parse(c, d)
		if err != nil {
			return o, err
		}
		return parse(c, d, common)
	}, run)
}

// CommonAction returns an action like Action, for commands that parse the common flags themselves.
func CommonAction[O any](d Deps, parse func(*cli.Context, Deps) (O, error),
	run func(context.Context, Deps, O) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if most := MostArguments(c.Command); c.NArg() > most {
			return failure.Usagef(Path(c), "unexpected argument %q", c.Args().Get(most))
		}
		o, err := parse(c, d)
		if err != nil {
			return err
		}
		return run(c.Context, d, o)
	}
}

// InSession runs a command on an environment, which it resolves and closes.
func InSession[O interface{ session() session.Options }](resolve session.Resolver,
	run func(context.Context, Deps, O, *session.Resolved) error) func(context.Context, Deps, O) error {
	return func(ctx context.Context, d Deps, o O) error {
		return session.Use(d.Deps, o.session(), resolve, func(s *session.Resolved) error { return run(ctx, d, o, s) })
	}
}

// MostArguments returns how many arguments a command takes, according to its usage.
func MostArguments(c *cli.Command) int {
	if strings.Contains(c.ArgsUsage, "...") {
		return math.MaxInt
	}
	return len(strings.Fields(c.ArgsUsage))
}

// Path returns the names of a command: "config list".
func Path(c *cli.Context) string {
	_, path, _ := strings.Cut(c.Command.HelpName, " ")
	return path
}

// Confirm asks for confirmation of a command, unless --yes was given.
func Confirm(ctx context.Context, d Deps, o Common, command, question string) error {
	if o.Yes {
		return nil
	}
	return prompt.Confirm(ctx, d.Stdin, d.Stderr, o.Interactive, command, question)
}

// CheckNewFile refuses to write the first file of an environment that nothing knows, unless a person says on a terminal
// that it is new.
func CheckNewFile(ctx context.Context, d Deps, o Common, stack string) error {
	err := identity.CheckNewFile(o.Request, stack)
	if terminal, ok := prompt.NewTerminal(d.Stdin, d.Stderr); err != nil && ok && o.Interactive && !o.Yes {
		return identity.AskNew(ctx, terminal, err)
	}
	return err
}

// Program is the name of the program.
const Program = "runner"

// Deps is the outside world.
type Deps struct {
	session.Deps
	Stdout           io.Writer
	StdoutIsTerminal bool
	StderrIsTerminal bool
	Environ          []string                   // NAME=value each
	PulumiVersion    string                     // of the Pulumi inside
	Releases         string                     // web directory of the releases; "" for a build that knows none
	Size             func() (width, height int) // of the terminal at stdout; zeros when it is none
	Guards           []guard.Maker              // of operations, in the order in which they are asked
}

// RunFunc runs a command line of the runner, and returns its exit code.
type RunFunc func(ctx context.Context, d Deps, args []string) int

// Width returns the width of the terminal at stdout, 0 if it is none.
func (d Deps) Width() int { return ui.Width(d.Size) }
