package inspect

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/catalogue"
	"mara/runner/internal/cli/cmd"
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
		Action: cmd.Action(d, cmd.ParseKnown, runProviders),
	}
}

func runProviders(_ context.Context, d cmd.Deps, o cmd.Options) error {
	if o.Output == "json" {
		return cmd.WriteJSON(d.Stdout, providerDocuments(o.Known()))
	}
	w := tabwriter.NewWriter(d.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTITLE\tCLUSTER\tREGISTRY\tPROJECTS")
	for _, p := range providerDocuments(o.Known()) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", p.Name, p.Title, cmd.OrDash(p.Cluster), cmd.OrDash(p.Registry), len(p.Projects))
	}
	return w.Flush()
}

// providerDocument is the JSON form of a provider.
type providerDocument struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Cluster  string   `json:"cluster"`
	Registry string   `json:"registry"`
	Projects []string `json:"projects"`
}

func providerDocuments(known catalogue.Catalogue) []providerDocument {
	var documents []providerDocument
	for _, p := range known.Providers {
		document := providerDocument{Name: p.Name, Title: p.Title, Cluster: p.ClusterProject, Registry: p.Registry.Project}
		for _, step := range p.Steps {
			document.Projects = append(document.Projects, step.Project.Name)
		}
		documents = append(documents, document)
	}
	return documents
}
