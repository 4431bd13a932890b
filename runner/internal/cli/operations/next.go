package operations

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/providers/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/event"
)

// carriedFlags are the flags of a run that the command after it needs as well, so
// that it is about the same and is judged in the same way.
type carriedFlags struct {
	Where     []string // root and engine
	Provider  []string // which nothing remembers before the first up
	Selection []string
	Values    []string // of the configuration, for this run only
	Gates     []string // what may forbid an up
	Allowed   []string // what up may lose
}

// parseCarried returns the flags that were given on the command line.
func parseCarried(c *cli.Context) carriedFlags {
	given := func(names ...string) []string {
		var words []string
		for _, name := range names {
			if cmd.HasFlag(c.Command, name) && c.IsSet(name) {
				words = append(words, flagWords(c, name)...)
			}
		}
		return words
	}
	return carriedFlags{
		Where:     given("root", "pulumi"),
		Provider:  given("provider"),
		Selection: given("only", "skip", "from", "until"),
		Values:    given(strings.TrimPrefix(config.OverrideFlag, "--")),
		Gates:     given("max-monthly", "policy-pack"),
		Allowed:   given("allow"),
	}
}

// flagWords returns a flag as the words of a command line.
func flagWords(c *cli.Context, name string) []string {
	var values []string
	switch value := c.Value(name).(type) {
	case cli.StringSlice:
		values = value.Value()
	case float64:
		values = []string{strconv.FormatFloat(value, 'g', -1, 64)}
	default:
		values = []string{c.String(name)}
	}
	return slice.Map(values, func(value string) string { return "--" + name + " " + shellWord(value) })
}

// shellWord quotes a word that a shell would take apart.
func shellWord(word string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%"
	if word != "" && strings.Trim(word, harmless) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// command returns a command about the same stack, root and engine as the run.
func (o operateOptions) command(stack, name string, flags ...[]string) string {
	words := []string{"runner " + name + " -s " + stack + o.Simulation.Flag()}
	return strings.Join(slices.Concat(words, o.carried.Where, slices.Concat(flags...)), " ")
}

// resumeCommand returns the command that goes on with what a run has left, with its
// values and, where it changes things, its gates.
func (o operateOptions) resumeCommand(stack string) string {
	flags := [][]string{o.carried.Values}
	if o.Operation.Deploys() {
		flags = append(flags, o.carried.Gates, o.carried.Allowed)
	}
	return o.command(stack, string(o.Operation), flags...) + " --resume"
}

// nextSteps returns the commands that may follow a run, by how it has ended.
func nextSteps(o operateOptions, stack string) func(*event.Summary) []string {
	command := func(name string, flags ...[]string) string { return o.command(stack, name, flags...) }
	run := [][]string{o.carried.Selection, o.carried.Values}
	up := append(run, o.carried.Gates, o.carried.Allowed)
	return func(summary *event.Summary) []string {
		if summary.Outcome() != event.Succeeded {
			return []string{o.resumeCommand(stack) + "   # carries on with what is left"}
		}
		switch o.Operation {
		case operation.Up:
			return []string{command("outputs"), command("status")}
		case operation.Preview:
			if o.save != "" {
				return []string{command("up", [][]string{o.carried.Provider, {"--plan", shellWord(o.save)}, o.carried.Values, o.carried.Gates}...)}
			}
			return []string{command("up", append([][]string{o.carried.Provider}, up...)...)}
		case operation.Refresh:
			return []string{command("preview", append(run, o.carried.Gates)...)}
		case operation.Drift:
			if summary.Changes.Any() {
				return []string{command("refresh", run...) + "   # takes it into the state", command("up", up...) + "   # then puts it right"}
			}
		}
		return nil
	}
}
