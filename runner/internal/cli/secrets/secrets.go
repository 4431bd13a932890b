// Package secrets has the commands about secrets.
package secrets

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
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
	New           bool   // of set: the environment may be one that nothing knows yet
}

type action func(ctx context.Context, d cmd.Deps, o options, s *session.Resolved) error

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
		return cmd.InSession(session.ResolveStack, run)(c.Context, d, o) // it may have no provider yet
	}
	return command
}

func parse(c *cli.Context, d cmd.Deps) (options, error) {
	common, err := cmd.Parse(c, d)
	if err != nil {
		return options{}, err
	}
	o := options{Common: common, File: c.String("to-file"), NewPassphrase: c.String("new-passphrase"), New: c.Bool("new")}
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

// showChange prints the changed keys as JSON, or else the text.
func (o options) showChange(d cmd.Deps, s *session.Resolved, keys []string, text string) error {
	file := s.Settings.Secrets.File
	if len(keys) > 0 {
		file = s.Vault.FileOf(keys[0])
	}
	done := change{Stack: s.Settings.Stack.Text, File: file, Keys: append([]string{}, keys...)}
	return o.Show(d, done, text+"\n")
}

func byKey(s *session.Resolved, command string, keys []string) ([]model.Secret, error) {
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

func makeSecrets(ctx context.Context, d cmd.Deps, o options, s *session.Resolved, secrets []model.Secret) error {
	values := map[string]string{}
	keys := model.SecretKeys(secrets)
	sealer, err := s.Vault.SealerFor(ctx, keys...)
	if err != nil {
		return err
	}
	for _, secret := range secrets {
		if values[secret.Key], err = encryption.Generate(secret); err != nil {
			return failure.Usagef("secrets set", "%s: %v", secret.Key, err)
		}
	}
	if err := s.Vault.Store(ctx, sealer, values); err != nil {
		return err
	}
	return o.showChange(d, s, keys, "made "+strings.Join(keys, "\nmade "))
}

func listCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "list", Usage: "list the secrets, without their values",
		Description: "Lists the secrets of the provider's projects, or of all projects if the stack has no " +
			"provider, and unused secrets in the file. It needs no passphrase.\n\n" +
			"Examples:\n  runner secrets list -s dev\n  runner secrets list -s dev -o json\n" +
			"  runner secrets list -s dev -p linode",
	}, cmd.OutputFlag("table", "json"), runList)
}

type listedSecret struct {
	Key       string          `json:"key"`
	State     string          `json:"state"`
	File      string          `json:"file,omitempty"` // that has the value
	Line      int             `json:"line,omitempty"`
	Generator model.Generator `json:"generator,omitempty"`
	MinLength int             `json:"min_length,omitempty"`
	Doc       string          `json:"doc,omitempty"`
}

func runList(_ context.Context, d cmd.Deps, o options, s *session.Resolved) error {
	listed := listSecrets(s)
	table := typeset.Table{Columns: []typeset.Column{{Title: "SECRET"}, {Title: "STATE"},
		{Title: "MEANING", Min: 24, Wrap: true}}}
	for _, secret := range listed {
		state := secret.State
		if secret.File != "" && secret.File != s.Settings.Secrets.File {
			state += fmt.Sprintf(" (%s:%d)", secret.File, secret.Line)
		}
		table.Rows = append(table.Rows, []string{secret.Key, state, secret.Doc})
	}
	return o.Show(d, listed, table.Text(d.Width()))
}

func listSecrets(s *session.Resolved) []listedSecret {
	listed := []listedSecret{}
	for _, secret := range s.Vault.Secrets {
		one := listedSecret{Key: secret.Key, State: stateOfSecret(s, secret), Generator: secret.Generate,
			MinLength: secret.MinLength, Doc: secret.Doc}
		for _, file := range []config.StackFile{s.Vault.Elsewhere[secret.Key].File, s.Settings.Secrets} {
			if entry, ok := file.Lookup(secret.Key); ok && one.File == "" {
				one.File, one.Line = file.File, entry.Line
			}
		}
		listed = append(listed, one)
	}
	for _, entry := range s.Settings.Secrets.Entries {
		known := slices.ContainsFunc(listed, func(l listedSecret) bool { return l.Key == entry.Key })
		if !known && entry.Key != config.InfraType {
			listed = append(listed, listedSecret{Key: entry.Key, State: "unused"}) // by the projects of the provider
		}
	}
	return listed
}

// stateOfSecret returns a word for where the value of a secret comes from.
func stateOfSecret(s *session.Resolved, secret model.Secret) string {
	entry, ok := s.Settings.Secrets.Lookup(secret.Key)
	if own, there := s.Vault.Elsewhere[secret.Key].File.Lookup(secret.Key); there {
		entry, ok = own, true
	}
	_, encrypted := entry.Value.(config.Ciphertext)
	switch {
	case s.Vault.Has(secret.Key):
		return "set"
	case ok && !encrypted && entry.Value != nil && entry.Value != "":
		return "plain text"
	case secret.Default != "" && !ok:
		return "default"
	case secret.Optional && !ok:
		return "optional" // it has no value, and the program does without
	}
	return "missing"
}

func exportCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "export", Usage: "write all secrets to a file, in plain text",
		Description: "Writes YAML, one KEY: VALUE per line, for a password manager or another environment. Only " +
			"you can read the file; an existing one is replaced only after confirmation, or with --yes. Delete it " +
			"when you are done.\n\n" +
			"Examples:\n  runner secrets export --to-file /run/user/1000/dev.yaml -s dev\n" +
			"  runner secrets export --yes -s dev\n  runner secrets export --yes -s dev -o json",
	}, cmd.JoinFlags([]cli.Flag{&cli.StringFlag{Name: "to-file", Usage: "write to `FILE`"}},
		cmd.OutputFlag("text", "json")), runExport)
}

func runExport(ctx context.Context, d cmd.Deps, o options, s *session.Resolved) error {
	if o.File == "" || o.File == "-" {
		return failure.Usagef("secrets export", "--to-file FILE is required: values are never printed")
	}
	path := d.Absolute(o.File)
	shown := path // relative to the working directory, if it is below it
	if relative, err := filepath.Rel(d.Dir, path); err == nil && filepath.IsLocal(relative) {
		shown = relative
	}
	if _, err := os.Lstat(path); err == nil {
		if err := cmd.Confirm(ctx, d, o.Common, "replacing "+shown, fmt.Sprintf("Replace %s?", shown)); err != nil {
			return err
		}
		o.Yes = true
	}
	var keys []string
	for _, entry := range s.Settings.Secrets.Entries {
		if _, encrypted := entry.Value.(config.Ciphertext); encrypted {
			keys = append(keys, entry.Key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Vault.Elsewhere)) {
		if s.Vault.Has(key) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return &failure.Environment{Text: s.Settings.Secrets.File + " has no secrets to export",
			Next: "`runner secrets list` lists the secrets"}
	}
	sealer, err := s.Vault.Unsealer(ctx)
	if err != nil {
		return err
	}
	values, err := s.Vault.Unseal(ctx, sealer, keys)
	if err != nil {
		return err
	}
	if err := writePlain(path, keys, values, o.Yes); err != nil {
		return &failure.Environment{Text: fmt.Sprintf("the secrets cannot be written: %v", err), Next: "nothing was written"}
	}
	return o.Show(d, change{Stack: s.Settings.Stack.Text, File: path, Keys: keys},
		fmt.Sprintf("wrote %s to %s, in plain text\n", typeset.Counted(len(values), "secret"), shown))
}

// writePlain writes values in the order of keys, atomically, to a file that only the user
// may read. It replaces an existing file or link, without keeping its mode.
func writePlain(path string, keys []string, values map[string]string, replace bool) error {
	document := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range keys {
		document.Content = append(document.Content,
			&yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: values[key]})
	}
	content, err := yaml.Marshal(document)
	if err != nil {
		return err
	}
	if replace {
		return atomicfile.Replace(path, content, 0o600)
	}
	return atomicfile.Create(path, content, 0o600)
}
