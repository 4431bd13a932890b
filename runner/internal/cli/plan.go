package cli

import (
	"io"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/plan"
)

func planCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name:    "plan",
		Aliases: []string{"show-execution"},
		Usage:   "show the projects of a provider, in order, with what they wait for",
		Description: "Needs no configuration, no credentials and no Pulumi. Without -p the provider is the one in the\n" +
			"configuration of the stack.\n\n" +
			"The order is what `up --parallel 1` follows. A project that `reads` another uses its outputs; one that comes\n" +
			"`after` another only waits for it. A `hook` is work of the runner itself when the project has succeeded.\n\n" +
			exitText(exitDone, exitUsage, exitConfig),
		Flags: joinFlags(
			outputFlag(plan.Formats()...),
			[]cli.Flag{&cli.BoolFlag{Name: "destroy", Usage: "show the order of destroy"}},
			environmentFlags(), baseFlags(),
		),
		Action: func(c *cli.Context) error {
			options, err := parsePlan(c, d)
			if err != nil {
				return err
			}
			return runPlan(d, options)
		},
	}
}

type planOptions struct {
	Provider providers.Provider
	Format   plan.Format
	Destroy  bool
}

func parsePlan(c *cli.Context, d Deps) (planOptions, error) {
	common, err := parseCommon(c, d)
	if err != nil {
		return planOptions{}, err
	}
	if _, err := arguments(c, 0); err != nil {
		return planOptions{}, err
	}
	named, err := common.plannedProvider()
	if err != nil {
		return planOptions{}, err
	}
	provider, err := providerOf(named)
	return planOptions{Provider: provider, Format: plan.Format(common.Output), Destroy: c.Bool("destroy")}, err
}

// plannedProvider is the provider that was asked for, whatever the stack is
// configured with, else the configured one if there is a configuration.
func (o commonOptions) plannedProvider() (config.Value, error) {
	if o.Provider.IsSet() {
		return o.Provider, nil
	}
	if asked := o.Sources.Lookup(config.ProviderVariable); asked.IsSet() {
		return asked, nil
	}
	stackNamed := o.Stack.IsSet() || o.Sources.Lookup(config.RunnerStackVariable, config.StackVariable).IsSet()
	if o.Root == "" || !stackNamed {
		return config.Value{}, nil
	}
	stack, err := config.ResolveStack(o.Stack, o.Sources)
	if err != nil {
		return config.Value{}, err
	}
	file, err := config.ReadStack(o.Root, stack.Text)
	if err != nil {
		return config.Value{}, err
	}
	return config.ResolveProvider(config.Value{}, o.Sources, file)
}

func runPlan(d Deps, options planOptions) error {
	p, err := plan.New(options.Provider)
	if err != nil {
		return err
	}
	if options.Destroy {
		p = p.Reverse()
	}
	text, err := plan.Render(p, options.Format)
	if err != nil {
		return err
	}
	_, err = io.WriteString(d.Stdout, text)
	return err
}
