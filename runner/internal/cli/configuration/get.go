package configuration

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
)

func getCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "get", Usage: "print the value of one key, or its default", ArgsUsage: "KEY",
		Description: "A list or a map is printed as YAML on one line, which `runner config set` accepts. If a key has no " +
			"value, the\n" +
			"exit code is 3.\n\nExample:\n  runner config get eks:k8s_version -s dev\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags(cmd.OutputFlag("text", "json")),
		Action: cmd.Action(d, parseKey, runGet),
	}
}

func runGet(_ context.Context, d cmd.Deps, o options) error {
	name := o.Key
	c, err := open(o.Request)
	if err != nil {
		return err
	}
	key, _ := c.key(name)
	layers := c.layers(key)
	if len(layers) == 0 {
		if err := c.check(name); err != nil {
			return err
		}
		return &config.Error{
			Problems: []config.Problem{{File: c.file.File, Key: name, Text: "is not set and has no default"}},
			Next:     fmt.Sprintf("set it with `runner config set %s VALUE -s %s`", name, c.stack),
		}
	}
	if o.Output == "json" {
		return cmd.WriteJSON(d.Stdout, newListedValue(name, layers[0]))
	}
	if _, encrypted := layers[0].Value.(config.Ciphertext); encrypted {
		return &config.Error{Problems: []config.Problem{{
			File: c.file.File, Line: layers[0].Origin.Line, Key: name, Text: "is a secret, and is not shown",
		}}}
	}
	_, err = fmt.Fprintln(d.Stdout, Show(layers[0].Value))
	return err
}
