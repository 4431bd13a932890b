package secrets

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
)

func generateCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name:      "generate",
		Usage:     "generate strong values for missing secrets",
		ArgsUsage: "[KEY...]",
		Description: "Without KEY, it generates all missing secrets that can be generated. Existing values are kept;\n" +
			"`runner secrets rotate` replaces them.\n\n" +
			"Examples:\n  runner secrets generate -s dev\n  runner secrets generate prometheus:admin_password -s dev",
	}, cmd.OutputFlag("text", "json"), runGenerate)
}

func runGenerate(ctx context.Context, d cmd.Deps, o options, s *session.Session) error {
	named, err := byKey(s, "generate", o.Args)
	if err != nil {
		return err
	}
	for _, secret := range named {
		if s.Vault.Has(secret.Key) {
			return &failure.Usage{Text: secret.Key + " has a value already", Next: "`runner secrets rotate " + secret.Key +
				"` replaces it"}
		}
	}
	if len(named) == 0 {
		named = slices.DeleteFunc(slices.Clone(s.Vault.Secrets), func(secret model.Secret) bool {
			return secret.Generate == model.None || s.Vault.Has(secret.Key)
		})
	}
	if len(named) == 0 {
		return o.showChange(d, s, nil, "nothing is missing")
	}
	return makeSecrets(ctx, d, o, s, named)
}
