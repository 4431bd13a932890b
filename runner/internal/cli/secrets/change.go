package secrets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/machine/failure"
)

func setCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "set", Usage: "store the value of a secret, encrypted", ArgsUsage: "KEY [SOURCE]",
		Description: "Asks for the value, unless SOURCE says where it comes from: " + vault.SourceForms +
			". A variable may also be set in config/pulumi/environment. Nothing else in the file changes.\n\n" +
			"Examples:\n  runner secrets set prometheus:admin_password -s dev\n" +
			"  runner secrets set bank-of-anthos:jwt_private_key @jwtRS256.key -s dev\n" +
			"  pass show grafana | runner secrets set prometheus:admin_password - -s dev",
	}, cmd.JoinFlags(cmd.NewFlags(), cmd.OutputFlag("text", "json")), runSet)
}

// SetAction returns the action of `runner secrets set` for one key, for another command with its flags.
func SetAction(d cmd.Deps, key string) cli.ActionFunc {
	return func(c *cli.Context) error {
		o, err := parse(c, d)
		if err != nil {
			return err
		}
		o.Args = append([]string{key}, o.Args...)
		return cmd.InSession(session.ResolveStack, runSet)(c.Context, d, o)
	}
}

func runSet(ctx context.Context, d cmd.Deps, o options, s *session.Resolved) error {
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
	if !o.New {
		if err := cmd.CheckNewFile(ctx, d, o.Common, s.Settings.Stack.Text); err != nil {
			return err
		}
	}
	var value string
	if len(o.Args) > 1 { // report problems with the source before asking anything
		source := vault.Source{Secret: secret, From: o.Args[1]}
		if !vault.IsSource(source.From) {
			return failure.Usagef(command, "%s; SOURCE is %s", vault.NeverOnTheLine, vault.SourceForms)
		}
		if value, err = source.Read(d.Console, o.Sources); err != nil {
			return err
		}
	}
	sealer, err := s.Vault.SealerFor(ctx, secret.Key)
	if err != nil {
		return err
	}
	if len(o.Args) == 1 {
		if value, err = s.Vault.Ask(ctx, secret); err != nil {
			return err
		}
	}
	if err := s.Vault.Store(ctx, sealer, map[string]string{secret.Key: value}); err != nil {
		return err
	}
	return o.showChange(d, s, []string{secret.Key}, "set "+secret.Key+" in "+s.Vault.FileOf(secret.Key))
}

func generateCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "generate", Usage: "generate strong values for missing secrets", ArgsUsage: "[KEY...]",
		Description: "Without KEY, it generates all missing secrets that can be generated. Existing values are " +
			"kept; `runner secrets rotate` replaces them.\n\n" +
			"Examples:\n  runner secrets generate -s dev\n" +
			"  runner secrets generate prometheus:admin_password -s dev\n" +
			"  runner secrets generate -s dev --yes -o json",
	}, cmd.OutputFlag("text", "json"), runGenerate)
}

func runGenerate(ctx context.Context, d cmd.Deps, o options, s *session.Resolved) error {
	named, err := byKey(s, "generate", o.Args)
	if err != nil {
		return err
	}
	for _, secret := range named {
		if s.Vault.Has(secret.Key) {
			return &failure.Usage{Text: secret.Key + " has a value already",
				Next: "`runner secrets rotate " + secret.Key + "` replaces it"}
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
			"Examples:\n  runner secrets rotate bank-of-anthos:jwt_private_key -s dev\n" +
			"  runner secrets rotate prometheus:admin_password -s dev --yes\n" +
			"  runner secrets rotate bank-of-anthos:jwt_private_key prometheus:admin_password -s dev",
	}, cmd.OutputFlag("text", "json"), runRotate)
}

func runRotate(ctx context.Context, d cmd.Deps, o options, s *session.Resolved) error {
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
		Description: "This needs no passphrase.\n\nExamples:\n" +
			"  runner secrets remove harbor:admin_password -s dev\n" +
			"  runner secrets remove harbor:admin_password -s dev --yes\n" +
			"  runner secrets remove shop:token shop:key -s dev",
	}, cmd.OutputFlag("text", "json"), runRemove)
}

func runRemove(ctx context.Context, d cmd.Deps, o options, s *session.Resolved) error {
	if len(o.Args) == 0 {
		return failure.Usagef("secrets remove", "name the secrets by their keys")
	}
	known := lists.Map(s.Settings.Secrets.Entries, func(entry config.Entry) string { return entry.Key })
	for key := range s.Vault.Elsewhere {
		if s.Vault.Has(key) {
			known = append(known, key)
		}
	}
	for _, key := range o.Args {
		if !slices.Contains(known, key) {
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

func changeProviderCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "change-provider", Usage: "re-encrypt everything with another key service or another passphrase",
		ArgsUsage: "PROVIDER",
		Description: "PROVIDER is `passphrase`, or the URL of a key service as Pulumi writes it: awskms://, " +
			"gcpkms://, azurekeyvault:// or hashivault://; at Pulumi Cloud `default` is its own. Re-encrypts the state of every deployed project, the " +
			"encrypted values of the stack file and the secrets, and records the provider in both files. If the " +
			"environment has a passphrase, `passphrase` replaces it; if it uses the same key service, it gets a new " +
			"data key.\n\n" +
			"The command asks for the new passphrase twice, unless --new-passphrase says where it is. If it is " +
			"interrupted, nothing else works on the environment until the same command has been run to the end.\n\n" +
			"Examples:\n  runner secrets change-provider passphrase -s dev\n" +
			"  runner secrets change-provider \"awskms://alias/mara?region=eu-central-1\" -s dev\n" +
			"  runner secrets change-provider passphrase --new-passphrase env:NEW --yes -s dev",
	}, cmd.JoinFlags(
		[]cli.Flag{&cli.StringFlag{Name: "new-passphrase", Usage: "take the new passphrase from `SOURCE`: " +
			vault.SourceForms}},
		cmd.LockFlags(), cmd.OutputFlag("text", "json"),
	), runChangeProvider)
}

var keyServices = []string{"awskms://", "gcpkms://", "azurekeyvault://", "hashivault://"}

func checkKeyProvider(provider string) error {
	if provider == "passphrase" || provider == encryption.DefaultProvider {
		return nil
	}
	for _, service := range keyServices {
		if key, ok := strings.CutPrefix(provider, service); ok && key != "" {
			return nil
		}
	}
	return failure.Usagef("secrets change-provider", "unknown key provider %q; known are passphrase, default (that of Pulumi Cloud), %s", provider,
		strings.Join(keyServices, ", "))
}

func runChangeProvider(ctx context.Context, d cmd.Deps, o options, s *session.Resolved) error {
	if len(o.Args) != 1 {
		return failure.Usagef("secrets change-provider", "name the key provider: passphrase, or the URL of a key service")
	}
	if err := checkKeyProvider(o.Args[0]); err != nil {
		return err
	}
	out := d.Stdout
	if o.Output == "json" {
		out = io.Discard
	}
	done, err := changeProvider(ctx, s, vault.Change{
		Provider: o.Args[0], NewPassphrase: o.NewPassphrase, Out: out,
		Confirm: func(question string) error { return cmd.Confirm(ctx, d, o.Common, "change-provider", question) },
	})
	if err != nil || o.Output != "json" {
		return err
	}
	return cmd.WriteJSON(d.Stdout, keyProviderChange{
		Stack: s.Settings.Stack.Text, Provider: event.MaskURLs(o.Args[0]),
		Projects: append([]string{}, done.Projects...), Files: append([]string{}, done.Files...), Notes: done.Notes,
	})
}

// changeProvider locks the environment and re-encrypts it.
func changeProvider(ctx context.Context, s *session.Resolved, how vault.Change) (done vault.Changed, err error) {
	locked, err := s.Lock(ctx, "change-provider")
	if err != nil {
		return done, err
	}
	release, err := s.Vault.LockToChange(ctx)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	var set *stacks.Set // nil where there can be none
	if s.States().MayHaveStates() {
		copies := encryption.Copies{Stack: s.Settings.Config.Content, Secrets: s.Settings.Secrets.Content}
		open, err := locked.Open(ctx, copies, false)
		if err != nil {
			return done, err
		}
		if err := refuseLeftovers(ctx, open.Reading); err != nil {
			return done, err
		}
		set = open.Stacks
	}
	return s.Vault.Change(ctx, set, how)
}

// refuseLeftovers refuses states that are locked or have pending operations:
// Pulumi drops pending operations when it imports a state.
func refuseLeftovers(ctx context.Context, s *session.Reading) error {
	left := s.Leftovers()
	if err := left.RefuseLocked(ctx, s.Plan.Names()); err != nil {
		return err
	}
	pending, err := left.Pending(ctx, s.Plan, true)
	if err == nil && len(pending) > 0 {
		err = &failure.Environment{
			Text: fmt.Sprintf("a run was interrupted while it worked on %s", pending[0]),
			Next: "run `" + s.Command("repair") + "` first",
		}
	}
	return err
}

// keyProviderChange is the JSON form of a change of the key provider.
type keyProviderChange struct {
	Stack    string   `json:"stack"`
	Provider string   `json:"provider"`
	Projects []string `json:"projects"` // whose states were encrypted anew
	Files    []string `json:"files"`
	Notes    []string `json:"notes,omitempty"`
}
