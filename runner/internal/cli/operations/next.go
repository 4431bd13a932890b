package operations

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/run/event"
)

// carriedFlags are the flags of a run that the command after it needs, too, to work on
// the same projects under the same guards.
type carriedFlags struct {
	Where     []string // root and engine
	Provider  []string // which is not recorded before the first up
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
		Gates:     given("max-monthly", "unknown-costs", "unknown-programs", "on-missing-output", "policy-pack"),
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
	var words []string
	for _, value := range values {
		words = append(words, "--"+name+" "+shellWord(value))
	}
	return words
}

// shellWord quotes a word that a shell would split or expand.
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

// previewCommand returns the preview of the same projects with the same values and
// gates. It writes a plan if the run writes or carries out one.
func (o operateOptions) previewCommand(stack string) string {
	flags := [][]string{o.carried.Provider, o.carried.Selection, o.carried.Values, o.carried.Gates}
	if file := cmp.Or(o.save, o.holdFile); file != "" {
		flags = append(flags, []string{"--save-plan", shellWord(file)})
	}
	return o.command(stack, string(operation.Preview), flags...)
}

// ofPlan has the next commands select the projects of the plan, unless those are all.
func (o operateOptions) ofPlan(s *session.Session) operateOptions {
	if o.hold != nil && len(o.hold.Projects) < len(s.Plan.Steps) {
		o.carried.Selection = []string{"--only", strings.Join(o.Selection.Only, ",")}
	}
	return o
}

// resumeCommand returns the command that resumes a run, with its values and, where it
// deploys, its gates. After an up with a plan it is the preview that makes another one.
func (o operateOptions) resumeCommand(stack string) string {
	if o.hold != nil {
		return o.previewCommand(stack)
	}
	flags := [][]string{o.carried.Values}
	if o.Operation.Deploys() {
		flags = append(flags, o.carried.Gates, o.carried.Allowed)
	}
	return o.command(stack, string(o.Operation), flags...) + " --resume"
}

// planWords returns the flags that carry out a saved plan, and no other one.
func planWords(file string, saved *event.SavedPlan) []string {
	words := []string{"--plan", shellWord(file)}
	if saved != nil {
		words = append(words, "--plan-digest", saved.Digest)
	}
	return words
}

// afterFailure returns the command that may follow a run that has not succeeded.
func (o operateOptions) afterFailure(summary *event.Summary, stack string) string {
	hasFailed := func(step event.Step) bool { return step.Result != event.Succeeded && step.Result != event.Skipped }
	isRefused := summary.Outcome() == event.Failed && !slices.ContainsFunc(summary.Steps, hasFailed)
	switch {
	case o.hold != nil:
		return o.resumeCommand(stack) + "   # makes a plan of what is left"
	case o.Operation == operation.Preview && (isRefused || o.save != ""): // nothing, or not enough, is left to resume
		return o.previewCommand(stack) + "   # once this is fixed"
	}
	return o.resumeCommand(stack) + "   # continues with what is left"
}

// nextSteps returns the commands that may follow a run, by how it has ended.
func nextSteps(o operateOptions, stack string) func(*event.Summary) []string {
	command := func(name string, flags ...[]string) string { return o.command(stack, name, flags...) }
	run := [][]string{o.carried.Selection, o.carried.Values}
	up := append(run, o.carried.Gates, o.carried.Allowed)
	return func(summary *event.Summary) []string {
		if summary.Outcome() != event.Succeeded {
			return []string{o.afterFailure(summary, stack)}
		}
		switch o.Operation {
		case operation.Up:
			return []string{command("outputs"), command("status")}
		case operation.Preview:
			if o.save != "" {
				return []string{
					command("up", o.carried.Provider, planWords(o.save, summary.SavedPlan), o.carried.Values, o.carried.Gates),
				}
			}
			return []string{command("up", append([][]string{o.carried.Provider}, up...)...)}
		case operation.Refresh:
			return []string{command("preview", append(run, o.carried.Gates)...)}
		case operation.Drift:
			if summary.Changes.Any() {
				return []string{
					command("refresh", run...) + "   # writes it to the state", command("up", up...) + "   # then corrects it",
				}
			}
		}
		return nil
	}
}
