package cli

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/failure"
	"mara/runner/internal/session"
)

// secretFlags are for the operations that need secrets.
func secretFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "secret", Usage: "keep this secret first, `KEY=SOURCE`; the source is " + session.SourceForms + "; may be repeated"},
		&cli.BoolFlag{Name: "generate-secrets", Usage: "make the secrets that are missing, and keep them encrypted"},
	}
}

func parseSecrets(c *cli.Context, o operateOptions) (session.SecretOptions, error) {
	secrets := session.SecretOptions{Needed: o.Operation.RunsPrograms(), Selection: o.Selection.Selection, Generate: c.Bool("generate-secrets")}
	given, err := session.ParseSources(c.Command.Name, "--secret", c.StringSlice("secret"))
	if err == nil && len(given) > 0 && o.Simulation.On {
		err = failure.Usagef(c.Command.Name, "--secret: a simulation makes secrets up and keeps none; leave it out")
	}
	secrets.Given = given
	return secrets, err
}
