// Package command has the commands about mirrors: registries that hold all
// charts and images of an environment, for clusters without internet.
package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/naming"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/feature/simulate/rehearsal"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
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
	Digests   string // of sync and check: a file, "" for none
	Registry  string // "" for the configured one
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	o := options{
		Common: common, Selection: cmd.ParseSelection(c),
		Resolve: c.Bool("resolve"), DryRun: c.Bool("dry-run"), Digests: c.String("digests"), Registry: c.Args().First(),
	}
	named := o.Stack.IsSet() || o.Sources.Lookup(config.RunnerStackVariable, config.StackVariable).IsSet()
	if !named { // the defaults of a provider are asked for
		o.Stack = config.Value{Text: "mirror", Origin: config.Origin{Source: config.FromDefault}}
	}
	return o, nil
}

// needed finds out which charts and images are asked for, of a mirror or, for "", at origins.
func needed(ctx context.Context, d cmd.Deps, o options, from string, network mirror.Network) (
	found document, err error) {
	fmt.Fprintln(d.Stderr, "Running the programs on simulated clouds, to see what they need.")
	var needs mirror.Needs
	programs := rehearsal.Options{
		Parallel: cmd.DefaultParallel, Selection: o.Selection, Mirror: from, Origins: from == "",
		Saw: func(object simulate.Object) { needs.Saw(object.URN.Project().String(), object.Token, object.Inputs()) },
	}
	err = rehearsal.Run(ctx, d.Deps, o.Options, programs, func(s *session.Reading, selected []string) error {
		fmt.Fprintf(d.Stderr, "Fetching and rendering their charts for %s.\n", needs.Kubernetes())
		list, err := needs.List(ctx, network, func(project string) bool { return slices.Contains(selected, project) })
		found = document{
			Version: listVersion, Provider: s.Provider.Name, Stack: s.Settings.Stack.Text,
			Charts: append([]mirror.Chart{}, list.Charts...), Images: append([]mirror.Image{}, list.Images...),
		}
		return err
	})
	return found, err
}

func listCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the charts and images of an environment, with their place in a mirror",
		Description: "Without -s it lists the defaults of the provider of -p. Charts come from their repositories. " +
			"Digests are shown for pinned images, and with --resolve for all, from their registries. What is built " +
			"from source, as kic:image_origin can ask for, is not on the list: that needs the internet.\n\n" +
			"Examples:\n  runner mirror list -p kind\n  runner mirror list -s dev -o json\n" +
			"  runner mirror list -p aws --only prometheus --resolve\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag("table", "json"),
			[]cli.Flag{&cli.BoolFlag{Name: "resolve", Usage: "ask the registries for the digests of all images"}},
			cmd.SelectionFlags(), cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parse, runList),
	}
}

// listVersion changes when a field changes its meaning or is removed.
const listVersion = 1

// document is what an environment needs of a mirror, and its JSON form.
type document struct {
	Version  int            `json:"version"`
	Provider string         `json:"provider"`
	Stack    string         `json:"stack"`
	Charts   []mirror.Chart `json:"charts"`
	Images   []mirror.Image `json:"images"`
}

func runList(ctx context.Context, d cmd.Deps, o options) (err error) {
	ways := mirror.NewNetwork(o.Proxy(), o.Charts())
	defer func() { err = errors.Join(err, ways.Close()) }()
	found, err := needed(ctx, d, o, "", ways)
	if err != nil {
		return err
	}
	if o.Resolve {
		if err := resolve(ctx, ways, found.Images); err != nil {
			return err
		}
	}
	for i := range found.Charts {
		found.Charts[i].Repository = event.MaskURLs(found.Charts[i].Repository)
	}
	return o.Show(d, found, listText(found, d.Width()))
}

func resolve(ctx context.Context, ways mirror.Network, images []mirror.Image) error {
	digests, err := parallel.Each(ctx, images, func(ctx context.Context, image mirror.Image) (string, error) {
		digest, err := ways.Digest(ctx, image.Name)
		if err != nil {
			err = fmt.Errorf("%s: %w", image.Name, err)
		}
		return digest, err
	})
	for i, digest := range digests {
		images[i].Digest = digest
	}
	return err
}

func listText(found document, width int) string {
	projects := typeset.Column{Title: "PROJECTS", Min: 12, Optional: true}
	charts := typeset.Table{Columns: []typeset.Column{{Title: "CHART", Min: 24, Middle: true}, projects}}
	for _, chart := range found.Charts {
		charts.Rows = append(charts.Rows, []string{chart.Source(), strings.Join(chart.Projects, ", ")})
	}
	images := typeset.Table{Columns: []typeset.Column{
		{Title: "IMAGE", Min: 24, Middle: true}, {Title: "DIGEST", Min: 16, Optional: true}, projects,
	}}
	for _, image := range found.Images {
		name, _, _ := strings.Cut(image.Name, "@")
		images.Rows = append(images.Rows, []string{name, image.Digest, strings.Join(image.Projects, ", ")})
	}
	return fmt.Sprintf("%s\n%s\n%s and %s. `runner mirror sync REGISTRY` copies them.\n", charts.Text(width),
		images.Text(width), typeset.Counted(len(found.Charts), "chart"), typeset.Counted(len(found.Images), "image"))
}

func checkCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "check that an environment finds everything in a mirror", ArgsUsage: "[REGISTRY]",
		Description: "Runs the programs on simulated clouds with the mirror as kubernetes:mirror, renders the " +
			"charts in the mirror, and looks there for every image that they name. It needs the mirror and no " +
			"internet. Charts and images that the configuration takes from elsewhere are listed. With --digests the " +
			"images have to be those that `mirror sync --digests` has copied.\n\n" +
			"Examples:\n  runner mirror check registry.example.com/mirror -p kind\n" +
			"  runner mirror check -s dev --digests config/mirror.txt\n" +
			"  runner mirror check -s dev\n  runner mirror check -s dev --skip bank-of-anthos -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(cmd.OutputFlag("text", "json"),
			[]cli.Flag{&cli.StringFlag{Name: "digests", Usage: "compare the images with the digests in `FILE`", TakesFile: true}},
			cmd.SelectionFlags(), cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags()),
		Action: cmd.Action(d, parse, runCheck),
	}
}

func runCheck(ctx context.Context, d cmd.Deps, o options) (err error) {
	const noCache = "" // the mirror itself has to have the charts
	ways := mirror.NewNetwork(o.Proxy(), noCache)
	defer func() { err = errors.Join(err, ways.Close()) }()
	address, err := address(d, o)
	if err != nil {
		return err
	}
	found, err := needed(ctx, d, o, address, ways)
	if err != nil {
		return err
	}
	known := digests{}
	if o.Digests != "" {
		if known, err = readDigests(o.Digests); err != nil {
			return err
		}
	}
	ask := func(ctx context.Context, image mirror.Image) (string, error) {
		problem, digest, err := look(ctx, ways, address, image)
		if problem == "" && err == nil && o.Digests != "" {
			problem = known.compare(strings.TrimPrefix(image.Name, address+"/"), digest, o.Digests)
		}
		return problem, err
	}
	problems, err := parallel.Each(ctx, found.Images, ask)
	if err != nil {
		return err
	}
	for _, chart := range found.Charts {
		if chart.Repository != "oci://"+naming.ChartsInMirror(address) {
			problems = append(problems, fmt.Sprintf("chart %s comes from elsewhere, for %s", chart.Source(),
				strings.Join(chart.Projects, ", ")))
		}
	}
	problems = slices.DeleteFunc(problems, func(problem string) bool { return problem == "" })
	v := verdict{Version: checkVersion, Mirror: address, Charts: len(found.Charts), Images: len(found.Images),
		Problems: append([]string{}, problems...)}
	if err := o.Show(d, v, v.text()); err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("%d of %d charts and images %s not in the mirror; `runner mirror sync %s` copies them",
			len(problems), v.Charts+v.Images, typeset.Are(len(problems)), address)
	}
	return nil
}

// checkVersion changes when a field changes its meaning or is removed.
const checkVersion = 1

// verdict is what a check has found.
type verdict struct {
	Version  int      `json:"version"`
	Mirror   string   `json:"mirror"`
	Charts   int      `json:"charts"`
	Images   int      `json:"images"`
	Problems []string `json:"problems"`
}

func (v verdict) text() string {
	if len(v.Problems) == 0 {
		return fmt.Sprintf("%s and %s come from %s.\n", typeset.Counted(v.Charts, "chart"),
			typeset.Counted(v.Images, "image"), v.Mirror)
	}
	return strings.Join(v.Problems, "\n") + "\n"
}

// look says what is wrong with an image; "" if it is in the mirror, with its digest.
func look(ctx context.Context, ways mirror.Network, address string, image mirror.Image) (problem, digest string, err error) {
	users := strings.Join(image.Projects, ", ")
	if !strings.HasPrefix(image.Name, address+"/") {
		return fmt.Sprintf("image %s comes from elsewhere, for %s", image.Name, users), "", nil
	}
	digest, err = ways.Digest(ctx, image.Name)
	if err != nil {
		return fmt.Sprintf("image %s, for %s: %v", image.Name, users, err), "", ctx.Err()
	}
	return "", digest, nil
}
