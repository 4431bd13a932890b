package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/schema"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// Schema returns `runner schema`.
func Schema(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of a format that the runner prints or reads", ArgsUsage: schemaArgument,
		Description: "events: one line of `-o json` of an operation; summary: summary.json in a run's directory; " +
			"plan: `runner plan -o json`; config: the stack file, for editors (see `runner config schema --help`); " +
			"project: mara.yaml; status, history and doctor: these commands with -o json; mirror: `runner mirror " +
			"list -o json`; saved-plan: `runner preview --save-plan FILE`; query: the input of queries; policy: `runner " +
			"policy check -o json`.\n\n" +
			"With --install, the schema of mara.yaml is written next to it, and its first line names it, so that editors " +
			"complete and check the file.\n\n" +
			"Examples:\n  runner schema events\n  runner schema project --install\n  runner schema config\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			[]cli.Flag{&cli.BoolFlag{Name: "install", Usage: "have editors check mara.yaml with the schema `project`"}},
			cmd.OutputFlag("json"), cmd.RootFlags(), cmd.BaseFlags(),
		),
		Action: cmd.CommonAction(d, parseSchema, runSchema),
	}
}

// schemaArgument is a placeholder for the names, which would not fit a narrow terminal.
const schemaArgument = "SCHEMA"

type schemaOptions struct {
	cmd.Common
	Install bool
}

// parseSchema finds the root, even if its files are broken: printing a schema needs none of them.
func parseSchema(c *cli.Context, d cmd.Deps) (o schemaOptions, err error) {
	o.Common, _, err = cmd.ParseBroken(c, d)
	if o.Install = c.Bool("install"); err == nil && o.Install && o.Root == "" {
		err = o.NoRoot
	}
	return o, err
}

func runSchema(_ context.Context, d cmd.Deps, o schemaOptions) error {
	if len(o.Args) == 0 {
		return failure.Usagef("schema", "which schema? known: %s", strings.Join(schema.Names(), ", "))
	}
	text, err := schema.Get(o.Args[0])
	switch {
	case err != nil:
		return failure.Usagef("schema", "%v", err)
	case o.Install && o.Args[0] != "project":
		return failure.Usagef("schema", "--install is for the schema `project`, of %s", config.MaraFile)
	case o.Install:
		return installSchema(d, o.Root, text)
	}
	return d.Print(string(text))
}

// installSchema writes the schema next to mara.yaml, and the line that names it.
func installSchema(d cmd.Deps, root string, text []byte) error {
	file := filepath.Join(root, config.MaraFile)
	content, err := files.Read(file, files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return &failure.Environment{Text: file + " does not exist", Next: "`runner adopt` writes one for existing projects"}
	}
	if err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	if err := atomicfile.Write(filepath.Join(root, schema.ProjectFile), text, 0o644); err != nil {
		return &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the directory")}
	}
	changed, did := schema.WithModeline(string(content), schema.ProjectFile), "names it already"
	if changed != string(content) {
		did = "names it in a comment for editors"
		if err := atomicfile.Write(file, []byte(changed), 0o644); err != nil {
			return &failure.Environment{Text: err.Error(), Next: failure.WriteRemedy(err, "the directory")}
		}
	}
	_, err = fmt.Fprintf(d.Stdout, "wrote %s; %s %s\n", schema.ProjectFile, config.MaraFile, did)
	return err
}
