package configuration

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/identity"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/repo/request"
)

func setCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "set", Usage: "set one value in the stack file", ArgsUsage: "KEY VALUE",
		Description: "The value is validated and written with the type of the key: the version 1.30 stays a string. Write " +
			"a list\n" +
			"with commas or as YAML, a map as YAML. The rest of the file does not change, including comments; the file is\n" +
			"created if it does not exist. Keys that no project declares are accepted, because a Pulumi provider or one of\n" +
			"your programs may read them, unless they look like a typo.\n\n" +
			"Examples:\n  runner config set eks:k8s_version 1.35 -s dev\n  runner config set vpc:azs us-east-1a,us-east-1b\n" +
			"  runner config set nginx:values '{replicaCount: 2}'\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags(cmd.OutputFlag("text", "json")),
		Action: cmd.Action(d, parseSet, runSet),
	}
}

func parseSet(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
	if c.NArg() < 2 {
		return options{}, failure.Usagef("config set", "name a key and its value")
	}
	return parseKey(c, d, common)
}

func runSet(ctx context.Context, d cmd.Deps, o options) error {
	name, text := o.Key, o.Args[1]
	o.ChangeProvider = name == config.InfraType
	c, err := open(o.Request)
	if err != nil {
		return err
	}
	value, err := c.parse(name, text)
	if err != nil {
		return err
	}
	if project, file, ok := c.fileOf(name); ok {
		return c.refuse(name, "is set in "+file.File+", which overrides the stack file",
			fmt.Sprintf("change it there: `runner pulumi %s -s %s -- config set %s VALUE`", project, c.stack, name))
	}
	entry, exists := c.file.Lookup(name)
	if _, encrypted := entry.Value.(config.Ciphertext); encrypted {
		return c.refuse(name, "is encrypted; a plain value would reveal it",
			"remove it first with `runner config unset "+name+"`")
	}
	if before := c.providerBefore(); name == config.InfraType && before != "" && before != text {
		if err := checkProviderChange(ctx, d, o, c.stack, before, text); err != nil {
			return err
		}
	}
	if err := c.write(config.Change{Key: name, Value: value}); err != nil {
		return err
	}
	summary := fmt.Sprintf("set %s to %s", name, Show(value))
	if exists {
		summary += fmt.Sprintf(" (was %s)", Show(entry.Value))
	}
	return o.showChange(d, c.file.File, value, entry.Value, summary)
}

// checkProviderChange refuses another provider while resources are deployed. Otherwise it
// updates the record of the first deployment.
func checkProviderChange(ctx context.Context, d cmd.Deps, o options, stack, before, asked string) error {
	if _, err := o.ProviderOf(config.Value{Text: asked, Origin: config.Origin{Source: config.FromFlag,
		Name: config.InfraType}}); err != nil {
		return err
	}
	deployed, err := identity.DeployedProjects(ctx, d.Deps, o.Options)
	if err != nil {
		return fmt.Errorf("checking whether the stack %q of provider %s is deployed: %w", stack, before, err)
	}
	if err := identity.RefuseProvider(stack, before, asked, deployed); err != nil {
		return err
	}
	if dir := o.Directory(); request.RecordedProvider(dir, stack) != "" {
		return request.RememberProvider(dir, stack, asked)
	}
	return nil
}

// change is the JSON form of a change in the stack file.
type change struct {
	File  string `json:"file"`
	Key   string `json:"key"`
	Value any    `json:"value"` // null if not set
	Was   any    `json:"was"`   // null if it was not set
}

// showChange prints the change of a key as JSON, or else text.
func (o options) showChange(d cmd.Deps, file string, value, was any, text string) error {
	if o.Output == "json" {
		return cmd.WriteJSON(d.Stdout, change{File: file, Key: o.Key, Value: redacted(value), Was: redacted(was)})
	}
	_, err := fmt.Fprintf(d.Stderr, "%s: %s\n", file, text)
	return err
}

// ParseValue parses a value of a key from the command line.
func ParseValue(r request.Request, name, text string) (any, error) {
	return configuration{known: r.Known(), declared: r.DeclaredKeys(),
		file: config.StackFile{File: "the configuration"}}.parse(name, text)
}

func (c configuration) parse(name, text string) (any, error) {
	if err := c.check(name); err != nil {
		return nil, err
	}
	key, declared := c.key(name)
	value, err := config.ParseFree(text)
	if declared {
		value, err = key.Parse(text)
	}
	if err != nil {
		return nil, &failure.Usage{
			Text: fmt.Sprintf("%s %v", name, err),
			Next: fmt.Sprintf("`runner config explain %s` shows the allowed values", name),
		}
	}
	return value, nil
}

func (c configuration) refuse(key, text, next string) error {
	return &config.Error{Problems: []config.Problem{c.file.Problem(key, text)}, Next: next}
}

// write changes the stack file atomically.
func (c configuration) write(changes ...config.Change) error {
	content, err := c.file.Own().Edit(changes...)
	if err != nil {
		return err
	}
	return request.Write(c.root, c.file.File, content)
}
