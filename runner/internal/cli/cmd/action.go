package cmd

import (
	"context"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/failure"
)

// Action returns an action that parses the options of a command and runs it.
func Action[O any](d Deps, parse func(*cli.Context, Deps) (O, error), run func(context.Context, Deps, O) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if most := MostArguments(c); c.NArg() > most {
			return failure.Usagef(Path(c), "unexpected argument %q", c.Args().Get(most))
		}
		o, err := parse(c, d)
		if err != nil {
			return err
		}
		return run(c.Context, d, o)
	}
}

// MostArguments returns how many arguments a command takes, according to its usage.
func MostArguments(c *cli.Context) int {
	if strings.Contains(c.Command.ArgsUsage, "...") {
		return math.MaxInt
	}
	return len(strings.Fields(c.Command.ArgsUsage))
}

// Path returns the names of a command: "config list".
func Path(c *cli.Context) string {
	_, path, _ := strings.Cut(c.Command.HelpName, " ")
	return path
}
