package secrets

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
)

func rotateCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name:      "rotate",
		Usage:     "replace values with newly generated ones",
		ArgsUsage: "KEY...",
		Description: "The next `runner up` deploys the new values. A database that reads its password only on its first " +
			"start keeps\n" +
			"the old password: `runner secrets list` shows which secrets that concerns.\n\n" +
			"Example:\n  runner secrets rotate bank-of-anthos:jwt_private_key -s dev",
	}, cmd.OutputFlag("text", "json"), runRotate)
}

func runRotate(ctx context.Context, d cmd.Deps, o options, s *session.Session) error {
	named, err := byKey(s, "rotate", o.Args)
	if err != nil {
		return err
	}
	if len(named) == 0 {
		return failure.Usagef("secrets rotate", "name the secrets by their keys")
	}
	for _, secret := range named {
		if secret.Generate == model.None {
			return &failure.Usage{Text: fmt.Sprintf("%s cannot be generated", secret.Key), Next: "set a new value with " +
				"`runner secrets set " + secret.Key + "`"}
		}
		if !s.Vault.Has(secret.Key) {
			return &failure.Usage{Text: secret.Key + " has no value yet", Next: "`runner secrets generate " + secret.Key +
				"` generates one"}
		}
	}
	text := fmt.Sprintf("Replace %s of the stack %s? The old values are lost.", strings.Join(o.Args, ", "),
		s.Settings.Stack.Text)
	if err := cmd.Confirm(ctx, d, o.Common, "rotate", text); err != nil {
		return err
	}
	return makeSecrets(ctx, d, o, s, named)
}
