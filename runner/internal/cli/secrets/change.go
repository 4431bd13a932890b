package secrets

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/secrets/vault"
)

func setCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "set", Usage: "store the value of a secret, encrypted", ArgsUsage: "KEY [SOURCE]",
		Description: "Asks for the value, unless SOURCE says where it comes from: " + vault.SourceForms +
			". A variable may also be set in config/pulumi/environment. Nothing else in the file changes.\n\n" +
			"Examples:\n  runner secrets set prometheus:admin_password -s dev\n" +
			"  runner secrets set bank-of-anthos:jwt_private_key @jwtRS256.key -s dev\n" +
			"  pass show grafana | runner secrets set prometheus:admin_password - -s dev",
	}, cmd.OutputFlag("text", "json"), runSet)
}

func runSet(ctx context.Context, d cmd.Deps, o options, s *session.Session) error {
	const command = "secrets set"
	if len(o.Args) == 0 {
		return failure.Usagef(command, "name the secret by its key")
	}
	if strings.Contains(o.Args[0], "=") {
		return failure.Usagef(command, "%s; give KEY and SOURCE, which is %s", vault.NeverOnTheLine, vault.SourceForms)
	}
	secret, err := vault.Declared(s.Vault.Known, command, o.Args[0])
	if err != nil {
		return err
	}
	if err := s.Vault.Refuse(secret.Key); err != nil {
		return err
	}
	source := vault.Source{Secret: secret}
	if len(o.Args) > 1 {
		if source.From = o.Args[1]; !vault.IsSource(source.From) {
			return failure.Usagef(command, "%s; SOURCE is %s", vault.NeverOnTheLine, vault.SourceForms)
		}
	}
	var value string
	if source.From != "" { // report problems with the source before asking anything
		if value, err = source.Read(d.Console, o.Sources); err != nil {
			return err
		}
	}
	sealer, err := s.Vault.Sealer(ctx)
	if err != nil {
		return err
	}
	if source.From == "" {
		if value, err = s.Vault.Ask(ctx, secret); err != nil {
			return err
		}
	}
	if err := s.Vault.Store(ctx, sealer, map[string]string{secret.Key: value}); err != nil {
		return err
	}
	return o.showChange(d, s, []string{secret.Key}, "set "+secret.Key+" in "+s.Settings.Secrets.File)
}

func generateCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "generate", Usage: "generate strong values for missing secrets", ArgsUsage: "[KEY...]",
		Description: "Without KEY, it generates all missing secrets that can be generated. Existing values are " +
			"kept; `runner secrets rotate` replaces them.\n\n" +
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

func rotateCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "rotate", Usage: "replace values with newly generated ones", ArgsUsage: "KEY...",
		Description: "The next `runner up` deploys the new values. A database that reads its password only on its " +
			"first start keeps the old password: `runner secrets list` shows which secrets that concerns.\n\n" +
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

func removeCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "remove", Usage: "remove secrets from the file", ArgsUsage: "KEY...",
		Description: "This needs no passphrase.\n\nExample:\n  runner secrets remove harbor:admin_password -s dev",
	}, cmd.OutputFlag("text", "json"), runRemove)
}

func runRemove(ctx context.Context, d cmd.Deps, o options, s *session.Session) error {
	if len(o.Args) == 0 {
		return failure.Usagef("secrets remove", "name the secrets by their keys")
	}
	var known []string
	for _, entry := range s.Settings.Secrets.Entries {
		known = append(known, entry.Key)
	}
	for _, key := range o.Args {
		if _, ok := s.Settings.Secrets.Lookup(key); !ok {
			return &failure.Usage{Text: fmt.Sprintf("%s has no %q%s", s.Settings.Secrets.File, key,
				config.DidYouMean(key, known)), Next: "`runner secrets list` lists the secrets"}
		}
	}
	text := fmt.Sprintf("Remove %s of the stack %s? The values are lost.", strings.Join(o.Args, ", "),
		s.Settings.Stack.Text)
	if err := cmd.Confirm(ctx, d, o.Common, "remove", text); err != nil {
		return err
	}
	if err := s.Vault.Store(ctx, nil, nil, o.Args...); err != nil {
		return err
	}
	return o.showChange(d, s, o.Args, "removed "+strings.Join(o.Args, "\nremoved "))
}
