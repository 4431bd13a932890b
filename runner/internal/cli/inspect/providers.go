package inspect

import (
	"context"
	"strconv"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
)

// Providers returns `runner providers`.
func Providers(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:    "providers",
		Aliases: []string{"list-providers"},
		Usage:   "list the providers",
		Description: "A provider hosts the cluster and the container registry. Choose one with -p. If the root has a " +
			"mara.yaml, its\n" +
			"providers are listed: built-in, modified and your own.\n\n" +
			"Examples:\n  runner providers\n  runner plan -p linode\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("table", "json"), cmd.RootFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.ParseKnown, runProviders),
	}
}

func runProviders(_ context.Context, d cmd.Deps, o cmd.Common) error {
	documents := []providerDocument{}
	for _, p := range o.Known().Providers {
		documents = append(documents, providerDocument{p.Name, p.Title, p.ClusterProject, p.Registry.Project, p.Names()})
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "NAME"}, {Title: "TITLE"}, {Title: "CLUSTER"},
		{Title: "REGISTRY"}, {Title: "PROJECTS"}}}
	for _, p := range documents {
		table.Rows = append(table.Rows, []string{
			p.Name, p.Title, cmd.OrDash(p.Cluster), cmd.OrDash(p.Registry), strconv.Itoa(len(p.Projects)),
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
