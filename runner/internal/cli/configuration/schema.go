package configuration

import (
	"context"

	"github.com/urfave/cli/v2"

	"mara/providers"
	"mara/runner/internal/cli/cmd"
)

func schemaCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of the stack file, for editors",
		Description: "The schema describes every key, including the keys of your own projects: type, default, limits and " +
			"meaning.\n" +
			"Editors with a YAML language server complete and check a stack file whose first line names the schema:\n\n" +
			"  # yaml-language-server: $schema=stack.schema.json\n\n" +
			"Example:\n  runner config schema > config/pulumi/stack.schema.json\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("json"), cmd.RootFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.ParseKnown, runSchema),
	}
}

func runSchema(_ context.Context, d cmd.Deps, o cmd.Common) error {
	text, err := providers.StackSchema(o.Known().Keys())
	if err != nil {
		return err
	}
	_, err = d.Stdout.Write(text)
	return err
}
