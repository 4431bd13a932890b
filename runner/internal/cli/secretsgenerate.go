package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/projects"
	"mara/runner/internal/failure"
	"mara/runner/internal/session"
)

func secretsGenerateCommand(d Deps) *cli.Command {
	return secretsSubcommand(d, &cli.Command{
		Name:      "generate",
		Usage:     "make strong values for secrets that are missing",
		ArgsUsage: "[KEY...]",
		Description: "Without a KEY it makes all that are missing and can be made. What has a value keeps it; `runner secrets\n" +
			"rotate` replaces it.\n\nExamples:\n  runner secrets generate -s dev\n  runner secrets generate prometheus:admin_password -s dev",
	}, outputFlag("text", "json"), -1, runSecretsGenerate)
}

func runSecretsGenerate(ctx context.Context, d Deps, o secretsOptions, s *session.Session) error {
	named, err := secretsByKey("generate", o.Keys)
	if err != nil {
		return err
	}
	for _, secret := range named {
		if s.Vault.Has(secret.Key) {
			return &failure.Usage{Text: secret.Key + " has a value already", Next: "`runner secrets rotate " + secret.Key + "` replaces it"}
		}
	}
	if len(named) == 0 {
		for _, secret := range s.Vault.Secrets {
			if secret.Generate != projects.None && !s.Vault.Has(secret.Key) {
				named = append(named, secret)
			}
		}
	}
	switch {
	case len(named) > 0:
		return makeSecrets(ctx, d, o, s, named)
	case o.Output == "json":
		return o.tell(d, s, "", nil)
	}
	_, err = fmt.Fprintln(d.Stdout, "nothing is missing")
	return err
}

func secretsRotateCommand(d Deps) *cli.Command {
	return secretsSubcommand(d, &cli.Command{
		Name:      "rotate",
		Usage:     "make new values in the place of old ones",
		ArgsUsage: "KEY...",
		Description: "The next `runner up` brings the new values into the cluster. A database that reads its password when it\n" +
			"starts for the first time keeps the old one: `runner secrets list` says which.\n\n" +
			"Example:\n  runner secrets rotate bank-of-anthos:jwt_private_key -s dev",
	}, outputFlag("text", "json"), -1, runSecretsRotate)
}

func runSecretsRotate(ctx context.Context, d Deps, o secretsOptions, s *session.Session) error {
	named, err := secretsByKey("rotate", o.Keys)
	if err != nil {
		return err
	}
	if len(named) == 0 {
		return failure.Usagef("secrets rotate", "name the secrets by their keys")
	}
	for _, secret := range named {
		if secret.Generate == projects.None {
			return &failure.Usage{Text: fmt.Sprintf("nothing can make %s", secret.Key), Next: "give a new value with `runner secrets set " + secret.Key + "`"}
		}
		if !s.Vault.Has(secret.Key) {
			return &failure.Usage{Text: secret.Key + " has no value yet", Next: "`runner secrets generate " + secret.Key + "` makes one"}
		}
	}
	text := fmt.Sprintf("Replace %s of the stack %s? The old values are lost.", strings.Join(o.Keys, ", "), s.Settings.Stack.Text)
	if err := confirm(ctx, d, o.sessionOptions, "rotate", text); err != nil {
		return err
	}
	return makeSecrets(ctx, d, o, s, named)
}
