// Package secrets has the commands about secrets.
package secrets

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/secrets/encryption"
	"mara/runner/internal/secrets/vault"
)

// Command returns `runner secrets` with its subcommands.
func Command(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "secrets", Usage: "manage the encrypted values of an environment",
		Description: "The values are in config/pulumi/secrets/Pulumi.<stack>.yaml, in Pulumi's own encryption: " +
			"plain pulumi can read them, and the file is safe to commit. The passphrase comes from " +
			"PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE, or from a prompt. Values are never given on " +
			"the command line and never shown.\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked, cmd.ExitInterrupted),
		Subcommands: []*cli.Command{
			listCommand(d),
			setCommand(d),
			generateCommand(d),
			rotateCommand(d),
			removeCommand(d),
			exportCommand(d),
			changeProviderCommand(d),
		},
	}
}

type options struct {
	cmd.Common
	File          string // of export
	NewPassphrase string // source of change-provider
}

type action func(ctx context.Context, d cmd.Deps, o options, s *session.Session) error

// subcommand adds common flags and an action to a subcommand.
func subcommand(d cmd.Deps, command *cli.Command, own []cli.Flag, run action) *cli.Command {
	command.Description += "\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig,
		cmd.ExitLocked, cmd.ExitInterrupted)
	command.Flags = cmd.JoinFlags(own, cmd.EnvironmentFlags(), cmd.ConfirmFlags(), cmd.PulumiFlags(), cmd.BaseFlags())
	command.Action = func(c *cli.Context) error {
		o, err := parse(c, d)
		if err != nil {
			return err
		}
		return cmd.InSession((*session.Session).ResolveStack, run)(c.Context, d, o) // it may have no provider yet
	}
	return command
}

func parse(c *cli.Context, d cmd.Deps) (options, error) {
	common, err := cmd.Parse(c, d)
	if err != nil {
		return options{}, err
	}
	o := options{Common: common, File: c.String("to-file"), NewPassphrase: c.String("new-passphrase")}
	if o.NewPassphrase != "" && !vault.IsSource(o.NewPassphrase) {
		return o, failure.Usagef(cmd.Path(c), "--new-passphrase: %s; write %s", vault.NeverOnTheLine, vault.SourceForms)
	}
	if len(o.Args) > cmd.MostArguments(c.Command) { // do not print the excess arguments: they may be values
		return o, failure.Usagef(cmd.Path(c), "too many arguments")
	}
	o.LockTimeout, err = cmd.ParseLock(c)
	return o, err
}

// change is the JSON form of a change of secrets.
type change struct {
	Stack string   `json:"stack"`
	File  string   `json:"file"` // the written file
	Keys  []string `json:"keys"`
}

// showChange prints the changed keys as JSON, or else the lines.
func (o options) showChange(d cmd.Deps, s *session.Session, keys []string, lines ...string) error {
	return o.Show(d, change{Stack: s.Settings.Stack.Text, File: s.Settings.Secrets.File,
		Keys: append([]string{}, keys...)},
		strings.Join(lines, "\n")+"\n")
}

func byKey(s *session.Session, command string, keys []string) ([]model.Secret, error) {
	var found []model.Secret
	for _, key := range keys {
		secret, err := vault.Declared(s.Vault.Known, "secrets "+command, key)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, func(s model.Secret) bool { return s.Key == key }) {
			found = append(found, secret)
		}
	}
	return found, nil
}

func makeSecrets(ctx context.Context, d cmd.Deps, o options, s *session.Session, secrets []model.Secret) error {
	for _, secret := range secrets {
		if err := s.Vault.Refuse(secret.Key); err != nil {
			return err
		}
	}
	sealer, err := s.Vault.Sealer(ctx)
	if err != nil {
		return err
	}
	values := map[string]string{}
	var keys []string
	for _, secret := range secrets {
		keys = append(keys, secret.Key)
		if values[secret.Key], err = encryption.Generate(secret); err != nil {
			return failure.Usagef("secrets set", "%s: %v", secret.Key, err)
		}
	}
	if err := s.Vault.Store(ctx, sealer, values); err != nil {
		return err
	}
	return o.showChange(d, s, keys, "made "+strings.Join(keys, "\nmade "))
}

// shownPath returns a path relative to the working directory, if it is below it.
func shownPath(d cmd.Deps, path string) string {
	if relative, err := filepath.Rel(d.Dir, path); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return path
}
