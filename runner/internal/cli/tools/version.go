package tools

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
)

// Version is `runner version`.
func Version(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the versions of the runner and of its embedded Pulumi",
		Description: "The embedded Pulumi is used unless --pulumi names another one.\n\n" +
			"Example:\n  runner version -o json\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("text", "json"), cmd.BaseFlags()),
		Action: cmd.Action(d, cmd.Parse, runVersion),
	}
}

// versionDocument is the JSON form of the versions.
type versionDocument struct {
	Runner string `json:"runner"`
	Pulumi string `json:"pulumi"`
}

func runVersion(_ context.Context, d cmd.Deps, o cmd.Options) error {
	if o.Output == "json" {
		return cmd.WriteJSON(d.Stdout, versionDocument{Runner: d.Version, Pulumi: d.PulumiVersion})
	}
	_, err := fmt.Fprintf(d.Stdout, "runner %s\npulumi %s\n", d.Version, d.PulumiVersion)
	return err
}
