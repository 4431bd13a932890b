package secrets

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

func exportCommand(d cmd.Deps) *cli.Command {
	return subcommand(d, &cli.Command{
		Name: "export", Usage: "write all secrets to a file, in plain text",
		Description: "Writes YAML, one KEY: VALUE per line, for a password manager or another environment. Only " +
			"you can read the file; an existing one is replaced only after confirmation, or with --yes. Delete it " +
			"when you are done.\n\n" +
			"Example:\n  runner secrets export --to-file /run/user/1000/dev.yaml -s dev",
	}, cmd.JoinFlags([]cli.Flag{&cli.StringFlag{Name: "to-file", Usage: "write to `FILE`"}},
		cmd.OutputFlag("text", "json")), runExport)
}

func runExport(ctx context.Context, d cmd.Deps, o options, s *session.Session) error {
	if o.File == "" || o.File == "-" {
		return failure.Usagef("secrets export", "--to-file FILE is required: values are never printed")
	}
	path := d.Absolute(o.File)
	if _, err := os.Lstat(path); err == nil {
		if err := cmd.Confirm(ctx, d, o.Common, "replacing "+shownPath(d, path),
			fmt.Sprintf("Replace %s?", shownPath(d, path))); err != nil {
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
		fmt.Sprintf("wrote %s to %s, in plain text\n", typeset.Counted(len(values), "secret"), shownPath(d, path)))
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
