package tools

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/output/schema"
)

// Schema returns `runner schema`.
func Schema(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of a format that the runner prints or reads", ArgsUsage: schemaArgument,
		Description: "events: one line of `-o json` of an operation; summary: summary.json in a run's directory; " +
			"plan: `runner plan -o json`; config: the stack file, for editors (see `runner config schema --help`); " +
			"project: mara.yaml; status, history and doctor: these commands with -o json; mirror: `runner mirror " +
			"list -o json`; saved-plan: `runner preview --save-plan`; query: the input of queries; policy: `runner " +
			"policy check -o json`.\n\n" +
			"Example:\n  runner schema events\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("json"), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.Parse, runSchema),
	}
}

// schemaArgument is a placeholder for the names, which would not fit a narrow terminal.
const schemaArgument = "SCHEMA"

func runSchema(_ context.Context, d cmd.Deps, o cmd.Common) error {
	if len(o.Args) == 0 {
		return failure.Usagef("schema", "which schema? known: %s", strings.Join(schema.Names(), ", "))
	}
	text, err := schema.Get(o.Args[0])
	if err != nil {
		return failure.Usagef("schema", "%v", err)
	}
	_, err = d.Stdout.Write(text)
	return err
}
