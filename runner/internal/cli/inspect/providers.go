package inspect

import (
	"context"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	"github.com/urfave/cli/v2"

	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/typeset"
)

// Providers is `runner providers`.
func Providers(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:    "providers",
		Aliases: []string{"list-providers"},
		Usage:   "list the providers",
		Description: "A provider is what hosts the cluster and the container registry. Choose one with -p. mara.yaml, if there is\n" +
			"one, says which there are: built-in ones, changed ones, and others.\n\n" +
			"Examples:\n  runner providers\n  runner plan -p linode\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("table", "json"), cmd.RootFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.ParseKnown, runProviders),
	}
}

func runProviders(_ context.Context, d cmd.Deps, o cmd.Common) error {
	documents := slice.Map(o.Known().Providers, func(p providers.Provider) providerDocument {
		return providerDocument{p.Name, p.Title, p.ClusterProject, p.Registry.Project, p.Names()}
	})
	table := typeset.Table{Columns: []typeset.Column{{Title: "NAME"}, {Title: "TITLE"}, {Title: "CLUSTER"}, {Title: "REGISTRY"}, {Title: "PROJECTS"}}}
	table.Rows = slice.Map(documents, func(p providerDocument) []string {
		return []string{p.Name, p.Title, cmd.OrDash(p.Cluster), cmd.OrDash(p.Registry), strconv.Itoa(len(p.Projects))}
	})
	return o.Show(d, documents, table.Text(d.Width()))
}

type providerDocument struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Cluster  string   `json:"cluster"`
	Registry string   `json:"registry"`
	Projects []string `json:"projects"`
}
