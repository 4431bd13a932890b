// Package configuration has the commands that create, show and change the
// configuration: init and config.
package configuration

import (
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/failure"
)

// Command returns `runner config` with its subcommands.
func Command(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "show and change the configuration of an environment",
		Description: "The configuration is config/pulumi/Pulumi.<stack>.yaml, which all projects share. Secrets " +
			"are not in it: see `runner secrets`.\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Subcommands: []*cli.Command{
			listCommand(d),
			getCommand(d),
			setCommand(d),
			unsetCommand(d),
			explainCommand(d),
			diffCommand(d),
			schemaCommand(d),
			referenceCommand(d),
		},
	}
}

// flags returns the flags of a command that reads the stack file.
func flags(own ...[]cli.Flag) []cli.Flag {
	return cmd.JoinFlags(cmd.JoinFlags(own...), cmd.EnvironmentFlags(), cmd.BaseFlags())
}

// Configuration is the configuration of an environment, which commands change.
type Configuration struct{ view.Values }

// Open reads the configuration of an environment.
func Open(o request.Request) (Configuration, error) {
	values, err := view.OpenValues(o)
	return Configuration{values}, err
}

// check refuses keys that do not belong in the configuration.
func (c Configuration) check(name string) error {
	if secret, ok := c.Known.Secret(name); ok {
		return &failure.Usage{
			Text: name + " is a secret (" + secret.Doc + "), and secrets are not stored in " + c.File.File,
			Next: "set it with `runner secrets set " + name + "`",
		}
	}
	if variable := projects.CredentialVariable(name); variable != "" {
		return &failure.Usage{Text: name + " is a credential, and would be stored in plain text",
			Next: "set " + variable + " in " + config.EnvironmentFile}
	}
	if name == model.SimulatedKey {
		return &failure.Usage{Text: name + " is reserved: the runner sets it in simulations", Next: "use --simulate"}
	}
	if wrong := config.Unknown(c.Declared, name); wrong != "" {
		return &failure.Usage{Text: name + " " + wrong, Next: "`runner config list --all` shows all keys"}
	}
	return nil
}

// CheckEnvironments refuses environments that a root does not have.
func CheckEnvironments(command string, r request.Request, stacks ...string) error {
	known, err := r.Environments()
	if err != nil {
		return err
	}
	for _, stack := range stacks {
		if !slices.Contains(known, stack) {
			return failure.Usagef(command, "no environment %q%s", stack, config.DidYouMean(stack, known))
		}
	}
	return nil
}

type options struct {
	cmd.Common
	Key      string // the first argument
	All      bool   // list also shows keys at their defaults
	ExitCode bool   // for diff
	New      bool   // for set: the environment may be one that nothing knows yet
	Path     bool   // for set: the key has a path into its value behind it
	Within   string // that path
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	return options{Common: common, Key: c.Args().First(), All: c.Bool("all"), ExitCode: c.Bool("exit-code")}, nil
}

func parseKey(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
	if c.NArg() == 0 {
		return options{}, failure.Usagef(cmd.Path(c), "which key? `runner config list --all` shows all keys")
	}
	return parse(c, d, common)
}
