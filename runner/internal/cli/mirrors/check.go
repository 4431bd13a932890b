package mirrors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/projects/naming"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/kube/mirror"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
)

func checkCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "check that an environment finds everything in a mirror", ArgsUsage: "[REGISTRY]",
		Description: "Runs the programs on simulated clouds with the mirror as kubernetes:mirror, renders the " +
			"charts in the mirror, and looks there for every image that they name. It needs the mirror and no " +
			"internet. Charts and images that the configuration takes from elsewhere are listed.\n\n" +
			"Examples:\n  runner mirror check registry.example.com/mirror -p kind\n  runner mirror check -s dev\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(cmd.OutputFlag("text", "json"), cmd.SelectionFlags(), cmd.EnvironmentFlags(), cmd.PulumiFlags(),
			cmd.BaseFlags()),
		Action: cmd.Action(d, parse, runCheck),
	}
}

func runCheck(ctx context.Context, d cmd.Deps, o options) (err error) {
	const noCache = "" // the mirror itself has to have the charts
	ways := mirror.NewNetwork(proxy(o), noCache)
	defer func() { err = errors.Join(err, ways.Close()) }()
	address, err := address(d, o)
	if err != nil {
		return err
	}
	found, err := needed(ctx, d, o, address, ways)
	if err != nil {
		return err
	}
	problems, err := parallel.Each(ctx, found.Images, func(ctx context.Context, image mirror.Image) (string, error) {
		return look(ctx, ways, address, image)
	})
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
	if all := len(found.Charts) + len(found.Images); len(problems) > 0 {
		return fmt.Errorf("%d of %d charts and images %s not in the mirror; `runner mirror sync %s` copies them",
			len(problems), all, typeset.Are(len(problems)), address)
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

// look says what is wrong with an image; "" if it is in the mirror.
func look(ctx context.Context, ways mirror.Network, address string, image mirror.Image) (string, error) {
	users := strings.Join(image.Projects, ", ")
	if !strings.HasPrefix(image.Name, address+"/") {
		return fmt.Sprintf("image %s comes from elsewhere, for %s", image.Name, users), nil
	}
	if _, err := ways.Digest(ctx, image.Name); err != nil {
		return fmt.Sprintf("image %s, for %s: %v", image.Name, users, err), ctx.Err()
	}
	return "", nil
}
