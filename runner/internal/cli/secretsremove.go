package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/failure"
)

func secretsRemoveCommand(d Deps) *cli.Command {
	return secretsSubcommand(d, &cli.Command{
		Name:        "remove",
		Usage:       "take secrets out of the file",
		ArgsUsage:   "KEY...",
		Description: "It needs no passphrase.\n\nExample:\n  runner secrets remove harbor:admin_password -s dev",
	}, nil, -1, runSecretsRemove)
}

func runSecretsRemove(ctx context.Context, d Deps, o secretsOptions, s *session) error {
	if len(o.Keys) == 0 {
		return failure.Usagef("secrets remove", "name the secrets by their keys")
	}
	var known []string
	for _, entry := range s.settings.Secrets.Entries {
		known = append(known, entry.Key)
	}
	for _, key := range o.Keys {
		if _, ok := s.settings.Secrets.Lookup(key); !ok {
			return &failure.Usage{Text: fmt.Sprintf("%s has no %q%s", s.settings.Secrets.File, key, config.DidYouMean(key, known)), Next: "`runner secrets list` shows what there is"}
		}
	}
	text := fmt.Sprintf("Remove %s of the stack %s? The values are lost.", strings.Join(o.Keys, ", "), s.settings.Stack.Text)
	if err := confirmSecrets(ctx, d, o, "remove", text); err != nil {
		return err
	}
	if err := s.storeSecrets(ctx, d, nil, nil, o.Keys...); err != nil {
		return err
	}
	for _, key := range o.Keys {
		fmt.Fprintf(d.Stdout, "removed %s\n", key)
	}
	return nil
}
