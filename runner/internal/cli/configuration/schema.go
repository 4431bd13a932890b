package configuration

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/schema"
)

func schemaCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of the stack file, for editors",
		Description: "It describes every key: type, default, limits and meaning. Editors with a YAML language server complete and\n" +
			"check a stack file whose first line names it:\n\n" +
			"  # yaml-language-server: $schema=stack.schema.json\n\n" +
			"Example:\n  runner config schema > config/pulumi/stack.schema.json\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("json"), cmd.BaseFlags()),
		Action: cmd.Action(d, cmd.Parse, runSchema),
	}
}

func runSchema(_ context.Context, d cmd.Deps, _ cmd.Options) error {
	text, err := schema.Get(schema.Config)
	if err != nil {
		return err
	}
	_, err = d.Stdout.Write(text)
	return err
}
