package secrets

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
)

func removeCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name:        "remove",
		Usage:       "remove secrets from the file",
		ArgsUsage:   "KEY...",
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
