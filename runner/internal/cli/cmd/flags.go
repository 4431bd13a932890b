package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/providers"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/machine/failure"
)

// KeyValue splits the text KEY=VALUE of a flag, which has to have a key.
func KeyValue(command, flag, text string) (key, value string, err error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return "", "", failure.Usagef(command, "%s: %q is not KEY=VALUE", flag, text)
	}
	return key, value, nil
}

// FindCommand finds a command by its name or one of its aliases.
func FindCommand(all []*cli.Command, given string) (*cli.Command, bool) {
	return lists.Find(all, func(c *cli.Command) bool { return c.HasName(given) })
}

// CommandNames returns the names of commands, with their aliases.
func CommandNames(all []*cli.Command) []string {
	return slices.Concat(lists.Map(all, (*cli.Command).Names)...)
}

// AllFlags lists the flags of all commands.
func AllFlags(all []*cli.Command) []cli.Flag {
	var flags []cli.Flag
	for _, command := range all {
		flags = append(flags, command.Flags...)
		flags = append(flags, AllFlags(command.Subcommands)...)
	}
	return flags
}

// FindFlag finds a flag by one of its names.
func FindFlag(flags []cli.Flag, given string) (cli.Flag, bool) {
	return lists.Find(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), given) })
}

// HasFlag reports whether a command has a flag.
func HasFlag(command *cli.Command, given string) bool {
	_, ok := FindFlag(command.Flags, given)
	return ok
}

// MayRepeat reports whether a flag may be given several times.
func MayRepeat(flag cli.Flag) bool {
	slice, ok := flag.(cli.DocGenerationSliceFlag)
	return ok && slice.IsSliceFlag()
}

// TakesValue reports whether a flag is followed by a value.
func TakesValue(flag cli.Flag) bool {
	documented, ok := flag.(cli.DocGenerationFlag)
	return ok && documented.TakesValue()
}

// Dashed returns a flag's name as typed, with its hyphens.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// SplitFlag splits "--output=json" into output and json. The name is "" if the word is no flag.
func SplitFlag(word string) (name, value string, hasValue bool) {
	if len(word) < 2 || word[0] != '-' {
		return "", "", false
	}
	return strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
}

// CommonCategory is the category of flags that many commands have.
const CommonCategory = "Common flags"

// JoinFlags puts groups of flags together.
func JoinFlags(groups ...[]cli.Flag) []cli.Flag { return slices.Concat(groups...) }

// BaseFlags returns the flags of every command that prints more than a line.
func BaseFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "debug", Category: CommonCategory,
			Usage: "log internals, such as each Pulumi command, to stderr"},
		&cli.BoolFlag{Name: "no-color", Category: CommonCategory, Usage: "disable colour; NO_COLOR does the same"},
	}
}

// NewFlags returns the flag of commands that may make an environment.
func NewFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "new", Usage: "make an environment that neither files nor the backend know yet"},
	}
}

// RootFlags returns the flags of commands that read the configuration.
func RootFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "root", Aliases: []string{"C"}, Category: CommonCategory,
			Usage: "use the configuration in `DIR`/config/pulumi (default: the nearest one, from the working directory " +
				"upwards)"},
	}
}

// EnvironmentFlags returns the flags that choose an environment.
func EnvironmentFlags() []cli.Flag {
	names := providers.Names()
	last := len(names) - 1
	either := strings.Join(names[:last], ", ") + " or " + names[last]
	return JoinFlags(RootFlags(), []cli.Flag{
		StackFlag("use the stack `NAME` (default: PULUMI_STACK)"),
		&cli.StringFlag{Name: "provider", Aliases: []string{"p"}, Category: CommonCategory,
			Usage: "use the provider `NAME`: " + either + " (default: the one in the stack configuration)"},
	})
}

// ConfirmFlags returns the flags of commands that ask questions.
func ConfirmFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Category: CommonCategory, Usage: "skip the confirmation"},
		&cli.BoolFlag{Name: "non-interactive", Category: CommonCategory, Usage: "never prompt; anything missing is an error"},
	}
}

// SimulateFlag returns the flag of commands that read real or simulated environments.
func SimulateFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "simulate", Category: CommonCategory, Usage: usage}
}

// StackFlag returns the flag that chooses a stack.
func StackFlag(usage string) cli.Flag {
	return &cli.StringFlag{Name: "stack", Aliases: []string{"s"}, Category: CommonCategory, Usage: usage}
}

// SimulationFlags returns the flags of commands that work on real or simulated clouds.
func SimulationFlags() []cli.Flag {
	return []cli.Flag{
		SimulateFlag("use simulated clouds, whose state is stored in .runner/simulated"),
		&cli.Float64Flag{Name: "simulate-speed", Value: request.DefaultSpeed, Category: CommonCategory,
			Usage: "run simulated clouds `N` times as fast"},
		&cli.StringSliceFlag{Name: "simulate-fail", Category: CommonCategory,
			Usage: "let simulated resources fail, `FAULT|TYPE[=MESSAGE]`; may be repeated; faults: " +
				strings.Join(request.FaultNames(), ", ")},
		&cli.StringSliceFlag{Name: "simulate-schema", Category: CommonCategory,
			Usage: "simulate a Pulumi package from the schema in `FILE`; may be repeated"},
		&cli.StringSliceFlag{Name: "simulate-slow", Category: CommonCategory,
			Usage: "add a delay to every simulated resource of a type, `TYPE=DURATION`; may be repeated"},
		simulateUnknownFlag(),
	}
}

// How a simulation takes resources of types that no schema at hand has.
const (
	unknownRefused = "refuse"
	unknownInputs  = "inputs"
)

func simulateUnknownFlag() cli.Flag {
	flag := ChoiceFlag("simulate-unknown", "treat resources of types that no schema at hand has as `HOW` says: "+unknownRefused+
		" ends the command, "+unknownInputs+" goes on without judging them", unknownRefused, unknownInputs)
	flag.Category = CommonCategory
	return flag
}

// OutputFlag returns a flag that chooses one of the formats; the first is the default.
func OutputFlag(formats ...string) []cli.Flag {
	flag := ChoiceFlag("output", "print as `FORMAT`: "+strings.Join(formats, ", "), formats...)
	flag.Aliases = []string{"o"}
	return []cli.Flag{flag}
}

// ChoiceFlag returns a flag that takes one of the allowed values; the first is the default.
func ChoiceFlag(name, usage string, allowed ...string) *cli.GenericFlag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &Choice{Allowed: allowed, Value: allowed[0]}}
}

// Choice is the value of a flag with a fixed set of values.
type Choice struct {
	Allowed []string
	Value   string
}

// Set implements flag.Value.
func (c *Choice) Set(value string) error {
	if !slices.Contains(c.Allowed, value) {
		return fmt.Errorf("allowed are %s", strings.Join(c.Allowed, ", "))
	}
	c.Value = value
	return nil
}

// String returns the chosen value.
func (c *Choice) String() string { return c.Value }

// Get implements flag.Getter.
func (c *Choice) Get() any { return c.Value }

// Chosen returns the value of a Choice flag, or "" if the command has no such flag.
func Chosen(c *cli.Context, flag string) string {
	if chosen, ok := c.Generic(flag).(*Choice); ok {
		return chosen.Value
	}
	return ""
}

// Variable returns the default environment variable of a flag: RUNNER_NO_COLOR for --no-color.
func Variable(flag string) string {
	return "RUNNER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// VariableOf returns the environment variable of a flag. A flag may override the default.
func VariableOf(f cli.Flag) string {
	if own, ok := f.(interface{ Variable() string }); ok {
		return own.Variable()
	}
	return Variable(f.Names()[0])
}

// SelectionFlags returns the flags of plan.Selection.
func SelectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "only",
			Usage: "run only these `PROJECTS`: names, titles or patterns, separated by commas; +NAME adds its dependencies, " +
				"NAME+ its dependents"},
		&cli.StringSliceFlag{Name: "skip", Usage: "skip these `PROJECTS`"},
		&cli.StringSliceFlag{Name: "from", Usage: "skip everything listed before the first of these `PROJECTS`"},
		&cli.StringSliceFlag{Name: "until", Usage: "skip everything listed after the last of these `PROJECTS`"},
	}
}

// ParseSelection reads the flags of plan.Selection.
func ParseSelection(c *cli.Context) plan.Selection {
	return plan.Selection{
		Only: c.StringSlice("only"), Skip: c.StringSlice("skip"), From: c.StringSlice("from"), Until: c.StringSlice("until"),
	}
}

// FleetFlags returns the flags that choose environments of a fleet.
func FleetFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "selector", Aliases: []string{"l"},
			Usage: "choose the environments whose labels match `SELECTOR`, in kubectl's syntax: stage=prod,region!=us-1"},
		&cli.BoolFlag{Name: "all", Usage: "choose all environments"},
	}
}

// FleetArguments is the usage of the arguments that name environments.
const FleetArguments = "[ENVIRONMENT...]"

// ParseFleet reads which environments are chosen. The names come from the arguments.
func ParseFleet(c *cli.Context, names []string) (fleet.Selection, error) {
	s := fleet.Selection{Names: names, Labels: c.String("selector"), All: c.Bool("all")}
	if s.All && (len(s.Names) > 0 || s.Labels != "") {
		return s, failure.Usagef(Path(c), "--all chooses every environment; remove it to choose by names or labels")
	}
	return s, nil
}
