package operations

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/failure"
	"mara/runner/internal/vault"
)

// secretFlags are for the operations that need secrets.
func secretFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "secret", Usage: "store this secret first, `KEY=SOURCE`; the source is " + vault.SourceForms + "; may be repeated"},
		&cli.BoolFlag{Name: "generate-secrets", Usage: "generate the secrets that are missing, and store them encrypted"},
	}
}

func parseSecrets(c *cli.Context, o operateOptions) (vault.Given, error) {
	sources, err := vault.ParseSources(o.Known().Secrets(), c.Command.Name, "--secret", c.StringSlice("secret"))
	if err == nil && len(sources) > 0 && o.Simulation.On {
		err = failure.Usagef(c.Command.Name, "--secret: a simulation makes secrets up and keeps none; leave it out")
	}
	return vault.Given{Sources: sources, Generate: c.Bool("generate-secrets")}, err
}
