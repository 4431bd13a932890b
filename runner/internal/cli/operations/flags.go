package operations

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/relay"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/failure"
)

func ExecutionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{
			Name: "parallel", Value: cmd.DefaultParallel,
			Usage: "run up to `N` projects at once; 1 follows the listed order exactly",
		},
		&cli.IntFlag{
			Name: "parallel-resources", Usage: "work on up to `N` resources of a project at once", DefaultText: "as Pulumi does",
		},
		cmd.ChoiceFlag("on-error",
			"when a project fails, follow `POLICY`: stop starts nothing new, continue runs what does not depend on it",
			executor.Policies()...),
		&cli.IntFlag{
			Name: "retry",
			Usage: "retry a project up to `N` times if its error is known to be transient: " +
				strings.Join(stacks.TransientKinds(), ", "),
		},
		&cli.StringFlag{
			Name: "message", Aliases: []string{"m"},
			Usage:       "say why, in `TEXT` that Pulumi keeps in the history of each stack",
			DefaultText: "that of the commit, as Pulumi does",
		},
		&cli.BoolFlag{
			Name: "no-journal", Usage: "write the whole state after each step, as Pulumi does, instead of a journal",
		},
		&cli.StringSliceFlag{
			Name: "timeout", Usage: "cancel a project after `DURATION`; PROJECT=DURATION for one of them; may be repeated",
		},
	}
}

func parseExecution(c *cli.Context) (operate.Execution, error) {
	o := operate.Execution{
		Parallel: c.Int("parallel"), Resources: c.Int("parallel-resources"), Retry: c.Int("retry"), Message: c.String("message"),
		OnError: executor.OnError(cmd.Chosen(c, "on-error")), Refresh: c.Bool("refresh"), StartAhead: -1,
	}
	command := c.Command.Name
	if c.IsSet("start-ahead") {
		if o.StartAhead = c.Int("start-ahead"); o.StartAhead < 0 {
			return o, failure.Usagef(command, "--start-ahead: %d is less than 0", o.StartAhead)
		}
	}
	switch {
	case o.Parallel < 1:
		return o, failure.Usagef(command, "--parallel: %d is not a number above 0", o.Parallel)
	case o.Resources < 0:
		return o, failure.Usagef(command, "--parallel-resources: %d is less than 0", o.Resources)
	case o.Retry < 0:
		return o, failure.Usagef(command, "--retry: %d is less than 0", o.Retry)
	}
	for _, text := range c.StringSlice("timeout") {
		t, err := parseTimeout(text)
		if err != nil {
			return o, failure.Usagef(command, "--timeout: %q is neither a duration such as 30m nor PROJECT=DURATION", text)
		}
		o.Timeouts = append(o.Timeouts, t)
	}
	return o, nil
}

func parseTimeout(text string) (operate.Timeout, error) {
	term, limit, one := strings.Cut(text, "=")
	if !one {
		term, limit = "", text
	}
	duration, err := time.ParseDuration(limit)
	if err == nil && (duration <= 0 || one && term == "") {
		err = errors.New("no time limit")
	}
	return operate.Timeout{Term: term, Limit: duration}, err
}

// parseRest reads what the last run has left to do.
func parseRest(c *cli.Context) (operate.Rest, error) {
	o := operate.Rest{Failed: c.Bool("failed"), Changed: c.Bool("resume-changed")}
	o.Resume = c.Bool("resume") || o.Changed
	if o.Failed && o.Resume {
		return o, failure.Usagef(c.Command.Name, "--failed and --resume: choose one; --resume includes what failed")
	}
	return o, nil
}

// parseTargets reads which resources an up or a preview is limited to, or replaces.
func parseTargets(c *cli.Context, r operate.Request) (stacks.Targets, error) {
	t := stacks.Targets{Only: c.StringSlice("target"), Dependents: c.Bool("target-dependents"), Replace: c.StringSlice("replace")}
	command := c.Command.Name
	words := r.Words()
	switch {
	case slices.Contains(slices.Concat(t.Only, t.Replace), ""):
		return t, failure.Usagef(command, "--target and --replace: a URN or a name is empty")
	case t.Dependents && len(t.Only) == 0:
		return t, failure.Usagef(command, "--target-dependents needs --target")
	case t.Any() && len(words) > 0:
		return t, failure.Usagef(command, "--target and --replace choose the project of the resource; omit %s", strings.Join(words, " "))
	}
	for _, flag := range []string{"save-plan", planFlag} {
		if c.String(flag) != "" && (t.Any() || r.Execution.Refresh) {
			return t, failure.Usagef(command, "--%s is about whole projects, as they are in the state; omit --target, --replace and --refresh", flag)
		}
	}
	return t, nil
}

func ShowFlags() []cli.Flag {
	modes, orders := ui.Modes(), append([]string{autoOrder}, ui.LogOrders()...)
	return []cli.Flag{
		cmd.ChoiceFlag("ui", "show the run as `MODE`: "+strings.Join(modes, ", "), modes...),
		cmd.ChoiceFlag("log-order", "print diagnostics in `ORDER`: "+strings.Join(orders, ", "), orders...),
		&cli.BoolFlag{
			Name: "no-values", Usage: "name what differs without its values, for logs that others read; `preview: {values: off}` in mara.yaml does it always",
		},
		&cli.StringFlag{
			Name: "report", Usage: "write a report of the run to `FILE`: .html, .md, .json, .xml (JUnit), .sarif or .csv",
		},
	}
}

// autoOrder chooses the order of diagnostics by where they are read.
const autoOrder = "auto"

func ParseView(c *cli.Context, d cmd.Deps, o cmd.Common) relay.View {
	facts := o.Facts(d)
	facts.Asked = ui.Mode(cmd.Chosen(c, "ui"))
	if order := cmd.Chosen(c, "log-order"); order != autoOrder {
		facts.Order = ui.LogOrder(order)
	}
	return relay.View{
		Stdout: d.Stdout, Size: d.Size, JSON: o.Output == "json", Facts: facts,
		List: list(c), Why: c.Bool("why"), Report: c.String("report"),
	}
}

// list returns how much a preview lists.
func list(c *cli.Context) ui.List {
	switch {
	case c.Bool("full"):
		return ui.Full
	case c.Bool("diff"):
		return ui.All
	}
	return ui.Short
}

// parseCarried returns the flags that were given on the command line.
func parseCarried(c *cli.Context) operate.Carried {
	given := func(names ...string) (words []string) {
		for _, name := range names {
			if cmd.HasFlag(c.Command, name) && c.IsSet(name) {
				words = append(words, flagWords(c, name)...)
			}
		}
		return words
	}
	return operate.Carried{
		Where:     given("root", "pulumi"),
		Provider:  given("provider"),
		Selection: given("only", "skip", "from", "until", "target", "target-dependents", "replace"),
		Refresh:   given("refresh"),
		Values:    given(strings.TrimPrefix(config.OverrideFlag, "--")),
		Gates:     given("max-monthly", "unknown-costs", "unknown-programs", "on-missing-output", "policy-pack"),
		Allowed:   given("allow"),
	}
}

// flagWords returns a flag as the words of a command line.
func flagWords(c *cli.Context, name string) []string {
	var values []string
	switch value := c.Value(name).(type) {
	case bool:
		return []string{"--" + name}
	case cli.StringSlice:
		values = value.Value()
	case float64:
		values = []string{strconv.FormatFloat(value, 'g', -1, 64)}
	default:
		values = []string{c.String(name)}
	}
	return lists.Map(values, func(value string) string { return "--" + name + " " + operate.ShellWord(value) })
}

// affectedFlag takes a value, or none.
type affectedFlag struct{ *cli.GenericFlag }

// TakesValue keeps the word that follows the flag from being its value.
func (affectedFlag) TakesValue() bool { return false }

// affectedValue is the value of an affectedFlag.
type affectedValue struct{ text string }

// Set implements cli.Generic.
func (v *affectedValue) Set(text string) error { v.text = text; return nil }

// String implements cli.Generic.
func (v *affectedValue) String() string { return v.text }

// IsBoolFlag reports that the flag needs no value.
func (v *affectedValue) IsBoolFlag() bool { return true }

// ParseAffected returns whether --affected was given, and the commit that it names, or "".
func ParseAffected(c *cli.Context) (asked bool, ref string) {
	value, ok := c.Generic("affected").(*affectedValue)
	switch {
	case !ok || value.text == "" || value.text == "false":
		return false, ""
	case value.text == "true":
		return true, ""
	}
	return true, value.text
}

// The values of --unknown-age.
const (
	RefuseUnknown  = "refuse"
	KeepUnknown    = "keep"
	DestroyUnknown = "destroy"
)
