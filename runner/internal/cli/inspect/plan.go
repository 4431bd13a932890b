package inspect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/typeset"
)

// Plan returns `runner plan`.
func Plan(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "plan", Aliases: []string{"show-execution"},
		Usage: "show the projects of a provider in order, with their dependencies",
		Description: "Needs no configuration, no credentials and no Pulumi. Without -p, the stack's configuration " +
			"names the provider.\n\n" +
			"`up --parallel 1` follows this order. A project that `reads` another uses its outputs; a project that " +
			"comes `after` another only waits for it. A `hook` is a task of the runner after the project has " +
			"succeeded. If -s names a stack that was deployed from here, durations come from its earlier runs; " +
			"otherwise they are estimates. The formats dot, mermaid, svg and html draw the plan; html adds a table. With -s, svg " +
			"and html mark what has changed or drifted since it ran, and what reads that. " +
			"yaml prints a provider with this plan, as a start for your mara.yaml. --optional lists the projects that " +
			"are part of a plan only if `with` in mara.yaml names them.\n\n" +
			"--learn adds to mara.yaml the references that the newest preview or run of each project has made, and " +
			"that the plan does not declare. It changes no other line.\n\n" +
			"Examples:\n  runner plan -p aws\n  runner plan -s dev --destroy\n" +
			"  runner plan -p linode -o html > plan.html\n  runner plan -p kind -o yaml > mara.yaml\n" +
			"  runner plan --optional\n  runner plan --learn\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag(append(plan.Formats(), yamlFormat)...),
			[]cli.Flag{
				&cli.BoolFlag{Name: "destroy", Usage: "show the order of destroy"},
				&cli.BoolFlag{Name: "optional", Usage: "list the optional projects, with what they need, as table or json"},
				&cli.BoolFlag{Name: "learn", Usage: "add to mara.yaml the references that programs were seen to make"},
			},
			cmd.SelectionFlags(), cmd.EnvironmentFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parsePlan, runPlan),
	}
}

// yamlFormat is the format of mara.yaml.
const yamlFormat = "yaml"

type planOptions struct {
	cmd.Common
	provider model.Provider
	Format   plan.Format
	Destroy  bool
	Learn    bool
	Optional bool            // list the optional projects instead of the plan, without a provider those of all
	Runs     string          // directory of earlier runs, or ""
	Settings config.Settings // settings of the named stack, or none
}

func parsePlan(c *cli.Context, _ cmd.Deps, common cmd.Common) (planOptions, error) {
	o := planOptions{Common: common, Format: plan.Format(common.Output)}
	o.Destroy, o.Learn, o.Selection = c.Bool("destroy"), c.Bool("learn"), cmd.ParseSelection(c)
	o.Optional = c.Bool("optional") && !o.Learn
	if o.Optional && !slices.Contains([]plan.Format{plan.Tree, plan.Table, plan.JSON}, o.Format) {
		return o, failure.Usagef(cmd.Path(c), "--optional prints a table or json, not %s", common.Output)
	}
	named, err := plannedProvider(common)
	if err == nil && (named.IsSet() || !o.Optional) {
		o.provider, err = common.ProviderOf(named)
	}
	if stack, err := config.ResolveStack(common.Stack, common.Sources); err == nil && common.Root != "" {
		o.Runs = layout.Of(common.Root, false).Runs()
		o.Settings = config.Settings{Stack: stack}
		o.Settings.Config, o.Settings.Described, _ = common.ReadStack(stack.Text) // other commands report a broken file
	}
	return o, err
}

// plannedProvider returns the provider given on the command line, or else the one in the
// stack's configuration.
func plannedProvider(o cmd.Common) (config.Value, error) {
	if asked := cmp.Or(o.Provider, o.Sources.Lookup(config.ProviderVariable)); asked.IsSet() {
		return asked, nil
	}
	stackNamed := o.Stack.IsSet() || o.Sources.Lookup(config.RunnerStackVariable, config.StackVariable).IsSet() ||
		o.Sources.OnlyStack.IsSet()
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

// estimates returns the projects' durations in this stack's earlier runs, or else the declared ones.
func (o planOptions) estimates(op operation.Operation, p plan.Plan) plan.Estimates {
	declared := p.Declared()
	if o.Runs == "" {
		return declared
	}
	environment := journal.Environment{Provider: o.provider.Name, Stack: o.Settings.Stack.Text}
	return plan.Estimates{Known: journal.Recent(o.Runs, environment, op).Durations(nil)}.Or(declared)
}

// news returns what has happened to the projects of the named stack since they ran. Pictures show it if all of it can be read.
func (o planOptions) news(ctx context.Context, d cmd.Deps) map[string]plan.News {
	stack := o.Settings.Stack.Text
	if o.Runs == "" || stack == "" || o.Destroy || o.Format != plan.SVG && o.Format != plan.HTML {
		return nil
	}
	const limit = 10 * time.Second // for a backend that does not answer
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	reader := view.NewReader(d.Deps, session.Options{Request: o.Request})
	defer func() { _ = reader.Close() }()
	_, err := reader.Look()
	if err = errors.Join(err, reader.ReadFiles(view.Everything())); err == nil {
		err = reader.Compare(ctx, stack)
	}
	var contents view.Contents
	if err == nil {
		contents, err = view.ContentsOf(ctx, d.Deps, session.Options{Request: o.Request}, stack)
	}
	e, ok := reader.Fleet().Named(stack)
	if err != nil || !ok {
		return nil // status says what is wrong
	}
	return reader.News(*e, contents)
}

func runPlan(ctx context.Context, d cmd.Deps, options planOptions) error {
	switch {
	case options.Learn:
		return runLearn(d, options)
	case options.Optional:
		return showOptional(d, options)
	}
	p, err := plan.New(options.provider)
	if err != nil {
		return err
	}
	if options.Format == yamlFormat {
		text, err := catalogue.Describe(options.BuiltIn, options.provider)
		if err != nil {
			return err
		}
		return d.Print(text)
	}
	op := operation.Up
	if options.Destroy {
		p, op = p.Reverse(), operation.Destroy
	} else if options.Settings.Stack.IsSet() { // the configuration may exclude projects
		if p, err = session.WithoutUnwanted(p, options.provider, options.Settings); err != nil {
			return err
		}
	}
	p.Estimates, p.News = options.estimates(op, p), options.news(ctx, d)
	if p, err = plan.Select(p, options.Selection); err != nil {
		return err
	}
	text, err := plan.Render(p, options.Format, d.Width())
	if err != nil {
		return err
	}
	return d.Print(text)
}

// Providers returns `runner providers`.
func Providers(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "providers", Aliases: []string{"list-providers"}, Usage: "list the providers",
		Description: "A provider hosts the cluster and the container registry. Choose one with -p. If the root has " +
			"a mara.yaml, its providers are listed: built-in, modified and your own.\n\n" +
			"Examples:\n  runner providers\n  runner providers -o json\n  runner providers --root ../platform\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("table", "json"), cmd.RootFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.ParseKnown, runProviders),
	}
}

func runProviders(_ context.Context, d cmd.Deps, o cmd.Common) error {
	documents := []providerDocument{}
	table := typeset.Table{Columns: []typeset.Column{{Title: "NAME"}, {Title: "TITLE"}, {Title: "CLUSTER"},
		{Title: "REGISTRY"}, {Title: "PROJECTS"}}}
	for _, p := range o.Known().Providers {
		documents = append(documents, providerDocument{p.Name, p.Title, p.ClusterProject, p.Registry.Project, p.Names()})
		table.Rows = append(table.Rows, []string{
			p.Name, p.Title, cmd.OrDash(p.ClusterProject), cmd.OrDash(p.Registry.Project), strconv.Itoa(len(p.Steps)),
		})
	}
	return o.Show(d, documents, table.Text(d.Width()))
}

type providerDocument struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Cluster  string   `json:"cluster"`
	Registry string   `json:"registry"`
	Projects []string `json:"projects"`
}
