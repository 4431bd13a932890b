package secrets

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/typeset"
)

func listCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "list", Usage: "list the secrets, without their values",
		Description: "Lists the secrets of the provider's projects, or of all projects if the stack has no " +
			"provider, and unused secrets in the file. It needs no passphrase.\n\n" +
			"Examples:\n  runner secrets list -s dev\n  runner secrets list -s dev -o json",
	}, cmd.OutputFlag("table", "json"), runList)
}

type listedSecret struct {
	Key       string          `json:"key"`
	State     string          `json:"state"`
	Generator model.Generator `json:"generator,omitempty"`
	MinLength int             `json:"min_length,omitempty"`
	Doc       string          `json:"doc,omitempty"`
}

// The states of a secret.
const (
	secretSet     = "set"
	secretMissing = "missing"
	secretDefault = "default"
	secretPlain   = "plain text"
	secretUnused  = "unused" // no project of the provider reads it
)

func runList(_ context.Context, d cmd.Deps, o options, s *session.Session) error {
	listed := listSecrets(s)
	table := typeset.Table{Columns: []typeset.Column{{Title: "SECRET"}, {Title: "STATE"},
		{Title: "MEANING", Min: 24, Wrap: true}}}
	for _, secret := range listed {
		table.Rows = append(table.Rows, []string{secret.Key, secret.State, secret.Doc})
	}
	return o.Show(d, listed, table.Text(d.Width()))
}

func listSecrets(s *session.Session) []listedSecret {
	listed := []listedSecret{}
	for _, secret := range s.Vault.Secrets {
		listed = append(listed, listedSecret{
			Key: secret.Key, State: stateOfSecret(s, secret), Generator: secret.Generate, MinLength: secret.MinLength,
			Doc: secret.Doc,
		})
	}
	for _, entry := range s.Settings.Secrets.Entries {
		known := slices.ContainsFunc(listed, func(l listedSecret) bool { return l.Key == entry.Key })
		if !known && entry.Key != config.InfraType {
			listed = append(listed, listedSecret{Key: entry.Key, State: secretUnused})
		}
	}
	return listed
}

func stateOfSecret(s *session.Session, secret model.Secret) string {
	entry, ok := s.Settings.Secrets.Lookup(secret.Key)
	_, encrypted := entry.Value.(config.Ciphertext)
	switch {
	case s.Vault.Has(secret.Key):
		return secretSet
	case ok && !encrypted && entry.Value != nil && entry.Value != "":
		return secretPlain
	case secret.Default != "" && !ok:
		return secretDefault
	}
	return secretMissing
}
