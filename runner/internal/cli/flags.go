package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/providers"
)

// commonCategory sets the flags apart that many commands have.
const commonCategory = "Common flags"

// joinFlags puts groups of flags together.
func joinFlags(groups ...[]cli.Flag) []cli.Flag { return slices.Concat(groups...) }

// baseFlags are for every command that prints more than a line.
func baseFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "debug", Category: commonCategory, Usage: "log what happens inside, such as each Pulumi command, on stderr"},
		&cli.BoolFlag{Name: "no-color", Category: commonCategory, Usage: "print without colour; NO_COLOR does the same"},
	}
}

// rootFlags are for commands that read the configuration.
func rootFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "root", Category: commonCategory, Usage: "use the configuration in `DIR`/config/pulumi (default: the nearest folder upward that has one)"},
	}
}

// either puts alternatives into a sentence.
func either(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// environmentFlags choose an environment.
func environmentFlags() []cli.Flag {
	return joinFlags(rootFlags(), []cli.Flag{
		&cli.StringFlag{Name: "stack", Aliases: []string{"s"}, Category: commonCategory, Usage: "use the stack `NAME` (default: PULUMI_STACK)"},
		&cli.StringFlag{Name: "provider", Aliases: []string{"p"}, Category: commonCategory, Usage: "use the provider `NAME`: " + either(providers.Names()) + " (default: the one in the stack configuration)"},
	})
}

// confirmFlags are for commands that ask something.
func confirmFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Category: commonCategory, Usage: "do it without asking for confirmation"},
		&cli.BoolFlag{Name: "non-interactive", Category: commonCategory, Usage: "never ask anything; what is missing is an error"},
	}
}

// simulationFlags are for commands that work on real or simulated clouds.
func simulationFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "simulate", Category: commonCategory, Usage: "work on simulated clouds, kept apart under .runner/simulated"},
		&cli.Float64Flag{Name: "simulate-speed", Value: defaultSpeed, Category: commonCategory, Usage: "make simulated clouds `N` times as fast"},
		&cli.StringSliceFlag{Name: "simulate-fail", Category: commonCategory, Usage: "fail simulated resources of a type, `TYPE[=MESSAGE]`; may be repeated"},
		&cli.StringSliceFlag{Name: "simulate-slow", Category: commonCategory, Usage: "slow simulated resources of a type down, `TYPE=DURATION`; may be repeated"},
	}
}

// outputFlag chooses one of the formats; the first is the default.
func outputFlag(formats ...string) []cli.Flag {
	return []cli.Flag{&cli.GenericFlag{
		Name:    "output",
		Aliases: []string{"o"},
		Value:   &choice{allowed: formats, value: formats[0]},
		Usage:   "print as `FORMAT`: " + strings.Join(formats, ", "),
	}}
}

// choice is a value out of a closed set.
type choice struct {
	allowed []string
	value   string
}

// Set takes one of the allowed values.
func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("allowed are %s", strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// String is the chosen value.
func (c *choice) String() string { return c.value }

// variable is the environment variable of a flag: RUNNER_NO_COLOR for --no-color.
func variable(flag string) string {
	return "RUNNER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
