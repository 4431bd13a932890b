package secrets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/run/event"
	"mara/runner/internal/secrets/encryption"
	"mara/runner/internal/secrets/vault"
)

func changeProviderCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "change-provider", Usage: "re-encrypt everything with another key service or another passphrase",
		ArgsUsage: "PROVIDER",
		Description: "PROVIDER is `passphrase`, or the URL of a key service as Pulumi writes it: awskms://, " +
			"gcpkms://, azurekeyvault:// or hashivault://. Re-encrypts the state of every deployed project, the " +
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

func keyServices() []string {
	return []string{"awskms://", "gcpkms://", "azurekeyvault://", "hashivault://"}
}

func checkKeyProvider(provider string) error {
	if provider == "passphrase" {
		return nil
	}
	for _, service := range keyServices() {
		if strings.HasPrefix(provider, service) && len(provider) > len(service) {
			return nil
		}
	}
	return failure.Usagef("secrets change-provider", "unknown key provider %q; known are passphrase, %s", provider,
		strings.Join(keyServices(), ", "))
}

func runChangeProvider(ctx context.Context, d cmd.Deps, o options, s *session.Session) error {
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
func changeProvider(ctx context.Context, s *session.Session, how vault.Change) (done vault.Changed, err error) {
	held, err := s.Lock(ctx, "change-provider")
	if err != nil {
		return done, err
	}
	release, err := s.Vault.LockToChange(ctx)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if s.States().MayHaveStates() {
		copies := encryption.Copies{Stack: s.Settings.Config.Content, Secrets: s.Settings.Secrets.Content}
		if err := held.OpenStacks(ctx, copies, false); err != nil {
			return done, err
		}
		if err := refuseLeftovers(ctx, s); err != nil {
			return done, err
		}
	}
	return s.Vault.Change(ctx, s.Stacks, how)
}

// refuseLeftovers refuses states that are locked or have pending operations:
// Pulumi drops pending operations when it imports a state.
func refuseLeftovers(ctx context.Context, s *session.Session) error {
	left := s.Leftovers()
	if err := left.RefuseLocked(ctx, s.Plan); err != nil {
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
