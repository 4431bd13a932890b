package cmd

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/failure"
)

// Action parses the options of a command, and runs it with them.
func Action[O any](d Deps, parse func(*cli.Context, Deps) (O, error), run func(context.Context, Deps, O) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if given, most := c.Args().Slice(), mostArguments(c.Command.ArgsUsage); most >= 0 && len(given) > most {
			return failure.Usagef(Path(c), "unexpected argument %q", given[most])
		}
		o, err := parse(c, d)
		if err != nil {
			return err
		}
		return run(c.Context, d, o)
	}
}

// mostArguments is how many arguments a command takes, as its usage says; -1 is
// any number.
func mostArguments(usage string) int {
	if strings.Contains(usage, "...") {
		return -1
	}
	return len(strings.Fields(usage))
}

// Path is the names of a command: "config list".
func Path(c *cli.Context) string {
	_, path, _ := strings.Cut(c.Command.HelpName, " ")
	return path
}
