package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mara/providers"
)

func providersCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name:    "providers",
		Aliases: []string{"list-providers"},
		Usage:   "list the providers",
		Description: "A provider is what hosts the cluster and the container registry. Choose one with -p.\n\n" +
			"Examples:\n  runner providers\n  runner plan -p linode\n\n" +
			exitText(exitDone, exitUsage),
		Flags: joinFlags(outputFlag("table", "json"), baseFlags()),
		Action: func(c *cli.Context) error {
			options, err := parseProviders(c, d)
			if err != nil {
				return err
			}
			return runProviders(d, options)
		},
	}
}

type providersOptions struct{ Output string }

func parseProviders(c *cli.Context, d Deps) (providersOptions, error) {
	common, err := parseCommon(c, d)
	if err != nil {
		return providersOptions{}, err
	}
	_, err = arguments(c, 0)
	return providersOptions{Output: common.Output}, err
}

func runProviders(d Deps, options providersOptions) error {
	if options.Output == "json" {
		return writeJSON(d.Stdout, providerDocuments())
	}
	w := tabwriter.NewWriter(d.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTITLE\tCLUSTER\tREGISTRY\tPROJECTS")
	for _, p := range providerDocuments() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", p.Name, p.Title, p.Cluster, p.Registry, len(p.Projects))
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

func providerDocuments() []providerDocument {
	var documents []providerDocument
	for _, p := range providers.All() {
		document := providerDocument{Name: p.Name, Title: p.Title, Cluster: p.ClusterProject, Registry: p.Registry.Project}
		for _, step := range p.Steps {
			document.Projects = append(document.Projects, step.Project.Name)
		}
		documents = append(documents, document)
	}
	return documents
}
