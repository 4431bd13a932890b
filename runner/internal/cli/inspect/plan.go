package inspect

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/providers"
	"mara/providers/operation"
	"mara/runner/internal/catalogue"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/journal"
	"mara/runner/internal/layout"
	"mara/runner/internal/plan"
	"mara/runner/internal/session"
)

// Plan is `runner plan`.
func Plan(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:    "plan",
		Aliases: []string{"show-execution"},
		Usage:   "show the projects of a provider, in order, with what they wait for",
		Description: "Needs no configuration, no credentials and no Pulumi. Without -p, the stack's configuration names the\n" +
			"provider.\n\n" +
			"The order is what `up --parallel 1` follows. A project that `reads` another uses its outputs; one that comes\n" +
			"`after` another only waits for it. A `hook` is what the runner itself does once the project has succeeded.\n" +
			"Times come from this stack's earlier runs if -s names one that was deployed from here; otherwise they are\n" +
			"estimates. The formats dot, mermaid, svg and html draw the plan; html is a page with the picture and a table;\n" +
			"yaml is a provider of your own with this plan, to start a mara.yaml with.\n\n" +
			"Examples:\n  runner plan -p aws\n  runner plan -s dev --destroy\n  runner plan -p linode -o html > plan.html\n  runner plan -p kind -o yaml > mara.yaml\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag(append(plan.Formats(), yamlFormat)...),
			[]cli.Flag{&cli.BoolFlag{Name: "destroy", Usage: "show the order of destroy"}},
			cmd.SelectionFlags(), cmd.EnvironmentFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parsePlan, runPlan),
	}
}

// yamlFormat is the form that mara.yaml has.
const yamlFormat = "yaml"

type planOptions struct {
	Provider  providers.Provider
	Format    plan.Format
	Destroy   bool
	Selection plan.Selection
	Runs      string          // folder of earlier runs; "" when there is none
	Settings  config.Settings // of the stack, if one is named
}

func parsePlan(c *cli.Context, _ cmd.Deps, common cmd.Common) (planOptions, error) {
	named, err := plannedProvider(common)
	if err != nil {
		return planOptions{}, err
	}
	provider, err := common.ProviderOf(named)
	o := planOptions{Provider: provider, Format: plan.Format(common.Output), Destroy: c.Bool("destroy"), Selection: cmd.ParseSelection(c)}
	if stack, err := config.ResolveStack(common.Stack, common.Sources); err == nil && common.Root != "" {
		o.Runs = layout.Of(common.Root, false).Runs()
		o.Settings = config.Settings{Stack: stack}
		o.Settings.Config, o.Settings.Described, _ = common.ReadStack(stack.Text) // a broken one is told by whoever needs it
	}
	return o, err
}

// plannedProvider is the provider that was asked for, whatever the stack is
// configured with, else the configured one if there is a configuration.
func plannedProvider(o cmd.Common) (config.Value, error) {
	if o.Provider.IsSet() {
		return o.Provider, nil
	}
	if asked := o.Sources.Lookup(config.ProviderVariable); asked.IsSet() {
		return asked, nil
	}
	stackNamed := o.Stack.IsSet() || o.Sources.Lookup(config.RunnerStackVariable, config.StackVariable).IsSet() || o.Sources.OnlyStack.IsSet()
	if o.Root == "" || !stackNamed {
		return config.Value{}, nil
	}
	stack, err := config.ResolveStack(o.Stack, o.Sources)
	if err != nil {
		return config.Value{}, err
	}
	file, _, err := o.ReadStack(stack.Text)
	if err != nil {
		return config.Value{}, err
	}
	return config.ResolveProvider(config.Value{}, o.Sources, file)
}

// estimates are the projects' times in this stack's earlier runs, else declared ones.
func (o planOptions) estimates(op operation.Operation, p plan.Plan) plan.Estimates {
	declared := p.Declared()
	if o.Runs == "" {
		return declared
	}
	known := journal.Durations(o.Runs, journal.DurationQuery{
		Environment: journal.Environment{Provider: o.Provider.Name, Stack: o.Settings.Stack.Text}, Operation: op,
	})
	return plan.Estimates{Known: known}.Or(declared)
}

// withoutUnwanted leaves out the projects whose condition does not hold, where a
// stack says with which configuration.
func (o planOptions) withoutUnwanted(p plan.Plan) (plan.Plan, error) {
	if !o.Settings.Stack.IsSet() {
		return p, nil
	}
	return session.WithoutUnwanted(p, o.Provider, o.Settings)
}

func runPlan(_ context.Context, d cmd.Deps, options planOptions) error {
	p, err := plan.New(options.Provider)
	if err != nil {
		return err
	}
	if options.Format == yamlFormat {
		text, err := catalogue.Describe(options.Provider)
		if err == nil {
			_, err = io.WriteString(d.Stdout, text)
		}
		return err
	}
	op := operation.Up
	if options.Destroy {
		p, op = p.Reverse(), operation.Destroy
	} else if p, err = options.withoutUnwanted(p); err != nil {
		return err
	}
	p.Estimates = options.estimates(op, p)
	if p, err = plan.Select(p, options.Selection); err != nil {
		return err
	}
	text, err := plan.Render(p, options.Format, d.Width())
	if err != nil {
		return err
	}
	_, err = io.WriteString(d.Stdout, text)
	return err
}
