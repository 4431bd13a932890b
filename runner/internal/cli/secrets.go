package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/projects"
	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/session"
	"mara/runner/internal/vault"
)

func secretsCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name:  "secrets",
		Usage: "look after the encrypted values of an environment",
		Description: "The values are in config/pulumi/secrets/Pulumi.<stack>.yaml, encrypted as Pulumi does it, so that plain\n" +
			"pulumi reads them, too: safe to commit. The passphrase comes from PULUMI_CONFIG_PASSPHRASE or\n" +
			"PULUMI_CONFIG_PASSPHRASE_FILE, or is asked for. Values never stand on the command line and are never shown.\n\n" +
			exitText(exitDone, exitFailed, exitUsage, exitConfig, exitLocked, exitInterrupted),
		Subcommands: []*cli.Command{
			secretsListCommand(d),
			secretsSetCommand(d),
			secretsGenerateCommand(d),
			secretsRotateCommand(d),
			secretsRemoveCommand(d),
			secretsExportCommand(d),
			secretsProviderCommand(d),
		},
	}
}

// secretsOptions are the options of the commands about secrets.
type secretsOptions struct {
	sessionOptions
	Keys          []string
	File          string // of export
	NewPassphrase string // source of change-provider
}

// secretsAction is what runs a command about secrets.
type secretsAction func(ctx context.Context, d Deps, o secretsOptions, s *session.Session) error

// secretsSubcommand makes one of the commands about secrets.
func secretsSubcommand(d Deps, command *cli.Command, own []cli.Flag, most int, run secretsAction) *cli.Command {
	command.Description += "\n\n" + exitText(exitDone, exitFailed, exitUsage, exitConfig, exitLocked, exitInterrupted)
	command.Flags = joinFlags(own, environmentFlags(), confirmFlags(), pulumiFlags(), baseFlags())
	command.Action = func(c *cli.Context) error {
		options, err := parseSecretsOptions(c, d, most)
		if err != nil {
			return err
		}
		return runSecrets(c.Context, d, options, run)
	}
	return command
}

func parseSecretsOptions(c *cli.Context, d Deps, most int) (secretsOptions, error) {
	common, err := parseSession(c, d)
	if err != nil {
		return secretsOptions{}, err
	}
	o := secretsOptions{sessionOptions: common, File: c.String("to-file"), NewPassphrase: c.String("new-passphrase"), Keys: c.Args().Slice()}
	if o.NewPassphrase != "" && !vault.IsSource(o.NewPassphrase) {
		return o, failure.Usagef("secrets "+c.Command.Name, "--new-passphrase: %s; write %s", vault.NeverOnTheLine, vault.SourceForms)
	}
	if hasFlag(c.Command, "lock-timeout") {
		if o.LockTimeout, err = parseLock(c, "secrets "+c.Command.Name); err != nil {
			return o, err
		}
	}
	if most >= 0 && len(o.Keys) > most { // what is too much may be a value
		return o, failure.Usagef("secrets "+c.Command.Name, "there are too many arguments")
	}
	return o, nil
}

// runSecrets opens as much of the environment as secrets need: its provider may
// still be unknown.
func runSecrets(ctx context.Context, d Deps, o secretsOptions, run secretsAction) (err error) {
	s := session.New(d.Deps, o.Options)
	defer func() {
		if closing := s.Close(); err == nil {
			err = closing
		}
	}()
	if err := s.ResolveStack(); err != nil {
		return err
	}
	return run(ctx, d, o, s)
}

// secretsChange is the JSON form of what a command has done to secrets.
type secretsChange struct {
	Stack string   `json:"stack"`
	File  string   `json:"file"` // that was written
	Keys  []string `json:"keys"`
}

// tell says what was done to the secrets of some keys, in a file: for people one
// line for each.
func (o secretsOptions) tell(d Deps, s *session.Session, did string, keys []string) error {
	if o.Output == "json" {
		return writeJSON(d.Stdout, secretsChange{Stack: s.Settings.Stack.Text, File: s.Settings.Secrets.File, Keys: append([]string{}, keys...)})
	}
	for _, key := range keys {
		if _, err := fmt.Fprintf(d.Stdout, "%s %s\n", did, key); err != nil {
			return err
		}
	}
	return nil
}

// secretsByKey finds the secrets that keys name.
func secretsByKey(command string, keys []string) ([]projects.Secret, error) {
	var found []projects.Secret
	for _, key := range keys {
		secret, err := vault.Declared("secrets "+command, key)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, func(s projects.Secret) bool { return s.Key == key }) {
			found = append(found, secret)
		}
	}
	return found, nil
}

// makeSecrets makes values for secrets and keeps them.
func makeSecrets(ctx context.Context, d Deps, o secretsOptions, s *session.Session, secrets []projects.Secret) error {
	sealer, err := s.Vault.Sealer(ctx)
	if err != nil {
		return err
	}
	values := map[string]string{}
	for _, secret := range secrets {
		if values[secret.Key], err = encryption.Generate(secret); err != nil {
			return failure.Usagef("secrets set", "%s: %v", secret.Key, err)
		}
	}
	if err := s.Vault.Store(ctx, sealer, values); err != nil {
		return err
	}
	return o.tell(d, s, "made", keysOf(secrets))
}

func keysOf(secrets []projects.Secret) []string {
	keys := make([]string, len(secrets))
	for i, secret := range secrets {
		keys[i] = secret.Key
	}
	return keys
}

// shownPath is a path as the user would type it.
func shownPath(d Deps, path string) string {
	if relative, err := filepath.Rel(d.Dir, path); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return path
}
