package fleets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/secrets/vault"
)

func newCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "new", Usage: "copy the configuration of an environment to a new one", ArgsUsage: "NAME",
		Description: "Copies the environment's description, stack file and secrets file. Secrets are re-encrypted with a " +
			"new key.\n" +
			"Layers stay shared. Nothing is deployed; look through the copies for values that must differ, such as labels,\n" +
			"names and addresses.\n\n" +
			"Examples:\n  runner fleet new prod-eu-2 --from prod-eu-1\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			[]cli.Flag{&cli.StringFlag{Name: "from", Usage: "copy the environment `OTHER`"}},
			cmd.OutputFlag("text", "json"), cmd.RootFlags(), cmd.ConfirmFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseNew, runNew),
	}
}

type newOptions struct {
	cmd.Common
	Name, From string
}

func parseNew(c *cli.Context, _ cmd.Deps, common cmd.Common) (newOptions, error) {
	o := newOptions{Common: common, Name: c.Args().First(), From: c.String("from")}
	switch {
	case o.Root == "":
		return o, o.NoRoot
	case o.Name == "":
		return o, failure.Usagef(cmd.Path(c), "name the new environment")
	case config.CheckStackName(o.Name) != nil:
		return o, failure.Usagef(cmd.Path(c), "%v", config.CheckStackName(o.Name))
	case o.From == "":
		return o, failure.Usagef(cmd.Path(c), "--from: name the environment to copy; `runner fleet list` lists them")
	}
	return o, nil
}

func runNew(ctx context.Context, d cmd.Deps, o newOptions) (err error) {
	known, err := config.Stacks(o.Root)
	if err != nil {
		return err
	}
	if !slices.Contains(known, o.From) {
		return failure.Usagef("fleet new", "--from: no environment %q%s", o.From, config.DidYouMean(o.From, known))
	}
	for _, path := range []string{config.DescriptionPath(o.Name), config.StackPath(o.Name), config.SecretsPath(o.Name)} {
		if _, err := os.Lstat(filepath.Join(o.Root, path)); !errors.Is(err, fs.ErrNotExist) {
			return &failure.Environment{Text: fmt.Sprintf("%s exists already", path), Next: "choose another name; nothing " +
				"was changed"}
		}
	}
	files, err := copies(ctx, d, o)
	if err != nil {
		return err
	}
	if err := writeAll(o.Root, files); err != nil {
		return err
	}
	if o.Output == "json" {
		names := []string{}
		for _, file := range files {
			names = append(names, file.Path)
		}
		return cmd.WriteJSON(d.Stdout, map[string]any{"environment": o.Name, "from": o.From, "files": names})
	}
	for _, file := range files {
		fmt.Fprintf(d.Stdout, "wrote %s\n", file.Path)
	}
	_, err = fmt.Fprintf(d.Stdout, "\nNext:\n  runner config diff %s %s\n  runner fleet check %s\n", o.From, o.Name,
		o.Name)
	return err
}

func copies(ctx context.Context, d cmd.Deps, o newOptions) (files []vault.NewFile, err error) {
	open := func(stack string, do func(*session.Session) error) error {
		options := o.Options
		options.Request = o.Of(stack)
		return session.Use(d.Deps, options, (*session.Session).ResolveStack, do)
	}
	err = open(o.From, func(from *session.Session) error {
		return open(o.Name, func(to *session.Session) (err error) {
			files, err = from.Vault.CopyTo(ctx, to.Vault)
			return err
		})
	})
	return files, err
}

// writeAll writes the files, or none of them.
func writeAll(root string, files []vault.NewFile) error {
	for i, file := range files {
		if err := request.Write(root, file.Path, file.Content); err != nil {
			for _, written := range files[:i] {
				_ = os.Remove(filepath.Join(root, written.Path))
			}
			return err
		}
	}
	return nil
}
