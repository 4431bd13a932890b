package secrets

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/secrets/vault"
)

func setCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name:      "set",
		Usage:     "store the value of a secret, encrypted",
		ArgsUsage: "KEY [SOURCE]",
		Description: "Asks for the value, unless SOURCE says where it comes from: " + vault.SourceForms +
			". A variable may\n" +
			"also be set in config/pulumi/environment. Nothing else in the file changes.\n\n" +
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
