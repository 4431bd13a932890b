// Package mirrors has the commands about mirrors: registries that hold all
// charts and images of an environment, for clusters without internet.
package mirrors

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/providers/cloud"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/rehearsal"
	"mara/runner/internal/kube/mirror"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/simulation/simulate"
)

// Command returns `runner mirror`, with its subcommands.
func Command(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "mirror", Usage: "list or copy all charts and images of an environment, for clusters without internet",
		Description: "To find out what an environment needs, the runner runs its programs on simulated clouds, in " +
			"a temporary directory, and renders their charts with their values. So the list is right for every " +
			"configured version and value. Fetched charts are cached in .runner/charts.\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Subcommands: []*cli.Command{listCommand(d), syncCommand(d), checkCommand(d)},
	}
}

type options struct {
	cmd.Common
	Selection plan.Selection
	Resolve   bool   // of list: ask registries for digests
	DryRun    bool   // of sync
	Registry  string // "" for the configured one
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	o := options{
		Common: common, Selection: cmd.ParseSelection(c),
		Resolve: c.Bool("resolve"), DryRun: c.Bool("dry-run"), Registry: c.Args().First(),
	}
	named := o.Stack.IsSet() || o.Sources.Lookup(config.RunnerStackVariable, config.StackVariable).IsSet()
	if !named { // the defaults of a provider are asked for
		o.Stack = config.Value{Text: "mirror", Origin: config.Origin{Source: config.FromDefault}}
	}
	return o, nil
}

// needed finds out which charts and images are asked for, of a mirror or, for "", at origins.
func needed(ctx context.Context, d cmd.Deps, o options, from string, network mirror.Network) (found environment,
	err error) {
	fmt.Fprintln(d.Stderr, "Running the programs on simulated clouds, to see what they need.")
	var needs mirror.Needs
	s, selected, err := rehearsal.Run(ctx, d.Deps, o.Options, rehearsal.Options{
		Parallel: cmd.DefaultParallel, Selection: o.Selection, Mirror: from, Origins: from == "",
		Saw: func(object simulate.Object) { needs.Saw(object.URN.Project().String(), object.Token, object.Inputs()) },
	})
	defer func() { err = errors.Join(err, s.Close()) }()
	if err != nil {
		return environment{}, err
	}
	fmt.Fprintf(d.Stderr, "Fetching and rendering their charts for %s.\n", needs.Kubernetes())
	found = environment{Provider: s.Provider.Name, Stack: s.Settings.Stack.Text}
	found.List, err = needs.List(ctx, network, func(project string) bool { return slices.Contains(selected, project) })
	return found, err
}

// environment is what an environment needs of a mirror.
type environment struct {
	Provider, Stack string
	mirror.List
}

// network leads to registries and repositories. Charts are kept below the root.
func network(o options) mirror.Network {
	cache := ""
	if o.Root != "" {
		cache = layout.Of(o.Root, false).Charts()
	}
	return mirror.NewNetwork(proxy(o), cache)
}

func proxy(o options) func(*http.Request) (*url.URL, error) {
	return cloud.Proxy(o.Sources.File.Merge(o.Sources.Process))
}
