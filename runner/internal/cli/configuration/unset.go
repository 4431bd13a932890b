package configuration

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
)

func unsetCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "unset", Usage: "remove one value from the stack file", ArgsUsage: "KEY",
		Description: "Resets the key to its default. The rest of the file does not change.\n\n" +
			"Example:\n  runner config unset eks:k8s_version -s dev\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags(cmd.OutputFlag("text", "json")),
		Action: cmd.Action(d, parseKey, runUnset),
	}
}

func runUnset(_ context.Context, d cmd.Deps, o options) error {
	name := o.Key
	c, err := open(o.Request)
	if err != nil {
		return err
	}
	entry, ok := c.file.Lookup(name)
	if !ok {
		if err := c.check(name); err != nil {
			return err
		}
		return o.showChange(d, c.file.File, nil, nil, name+" is not set")
	}
	if entry.File != "" {
		return c.refuse(name, "is set in a layer, not in "+c.file.File,
			"unset it for this environment with `"+name+": null` in "+config.DescriptionPath(c.stack))
	}
	if err := c.write(config.Change{Key: name, Unset: true}); err != nil {
		return err
	}
	return o.showChange(d, c.file.File, nil, entry.Value, fmt.Sprintf("removed %s (was %s)", name, Show(entry.Value)))
}
