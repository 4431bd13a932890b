package mirrors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/kube/mirror"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/run/event"
)

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

// document is the list for machines.
type document struct {
	Version  int            `json:"version"`
	Provider string         `json:"provider"`
	Stack    string         `json:"stack"`
	Charts   []mirror.Chart `json:"charts"`
	Images   []mirror.Image `json:"images"`
}

func runList(ctx context.Context, d cmd.Deps, o options) (err error) {
	ways := network(o)
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
	if o.Output == "json" {
		for i := range found.Charts {
			found.Charts[i].Repository = event.MaskURLs(found.Charts[i].Repository)
		}
		return cmd.WriteJSON(d.Stdout, document{
			Version: listVersion, Provider: found.Provider, Stack: found.Stack,
			Charts: append([]mirror.Chart{}, found.Charts...), Images: append([]mirror.Image{}, found.Images...),
		})
	}
	return writeList(d.Stdout, found, d.Width())
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

func writeList(w io.Writer, found environment, width int) error {
	charts := typeset.Table{Columns: []typeset.Column{{Title: "CHART", Min: 24, Middle: true},
		{Title: "PROJECTS", Min: 12, Optional: true}}}
	for _, chart := range found.Charts {
		charts.Rows = append(charts.Rows, []string{chart.Source(), strings.Join(chart.Projects, ", ")})
	}
	images := typeset.Table{Columns: []typeset.Column{
		{Title: "IMAGE", Min: 24, Middle: true}, {Title: "DIGEST", Min: 16, Optional: true},
		{Title: "PROJECTS", Min: 12, Optional: true},
	}}
	for _, image := range found.Images {
		name, _, _ := strings.Cut(image.Name, "@")
		images.Rows = append(images.Rows, []string{name, image.Digest, strings.Join(image.Projects, ", ")})
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n%s and %s. `runner mirror sync REGISTRY` copies them.\n",
		charts.Text(width), images.Text(width), typeset.Counted(len(found.Charts),
			"chart"), typeset.Counted(len(found.Images), "image"))
	return err
}
