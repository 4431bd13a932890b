// Package configuration has the commands that create, show and change the
// configuration: init and config.
package configuration

import (
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/repo/catalogue"
	"mara/runner/internal/repo/layers"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/run/event"
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

type configuration struct {
	root, stack string
	file        config.StackFile
	sources     config.Sources
	provider    config.Value // may be unset
	known       catalogue.Catalogue
	declared    []config.Key                // of all projects, and the runner's own
	beside      map[string]config.StackFile // stack files in the directories of own projects
	answers     []config.Answer             // of a cluster that is there already
}

// open reads the stack file, which may be missing: `config set` creates it.
func open(o request.Request) (configuration, error) {
	if o.Root == "" {
		return configuration{}, o.NoRoot
	}
	settings, err := config.Resolve(config.Request{Root: o.Root, Stack: o.Stack, Provider: o.Provider, Sources: o.Sources,
		Describe: layers.Read})
	if err != nil {
		return configuration{}, err
	}
	c := configuration{
		root: o.Root, stack: settings.Stack.Text, file: hidden(settings.Config, o.Known()), sources: o.Sources,
		provider: settings.Provider,
		known:    o.Known(), declared: o.DeclaredKeys(), beside: map[string]config.StackFile{},
	}
	for _, project := range c.known.Projects {
		file, err := catalogue.Beside(o.Root, c.stack, project)
		if err != nil {
			return c, err
		}
		if file.Exists {
			c.beside[project.Name] = hidden(file, c.known)
		}
	}
	c.provider, err = o.RememberedProvider(layout.Of(o.Root, false), c.stack, settings.Provider)
	return c, err
}

// fileOf returns the stack file in a project's directory that sets a key, if there is one. It
// overrides the shared file.
func (c configuration) fileOf(key string) (project string, file config.StackFile, ok bool) {
	for _, project := range c.known.Projects {
		_, declared := project.Key(key)
		file := c.beside[project.Name]
		if entry, there := file.Lookup(key); declared && there && entry.Value != nil {
			return project.Name, file, true
		}
	}
	return "", config.StackFile{}, false
}

// hidden returns a stack file with the values of all secrets hidden, even plain ones.
func hidden(file config.StackFile, known catalogue.Catalogue) config.StackFile {
	file.Entries = slices.Clone(file.Entries)
	for i, entry := range file.Entries {
		if _, isSecret := known.Secret(entry.Key); isSecret || projects.CredentialVariable(entry.Key) != "" {
			file.Entries[i].Value = config.Ciphertext("hidden")
			file.Entries[i].Over = slices.Clone(entry.Over)
			for j := range entry.Over {
				file.Entries[i].Over[j].Value = config.Ciphertext("hidden")
			}
		}
	}
	return file
}

// Show formats a value on one line, without credentials in URLs.
func Show(value any) string { return event.MaskURLs(config.Show(value)) }

// redacted returns a value without its encrypted parts and without credentials in URLs.
func redacted(value any) any { return config.Redacted(value, event.MaskURLs) }

// key finds a declared key. For an undeclared one it returns a key with only the name.
func (c configuration) key(name string) (config.Key, bool) {
	i := slices.IndexFunc(c.declared, func(key config.Key) bool { return key.Name == name })
	if i < 0 {
		return config.Key{Name: name}, false
	}
	return c.declared[i], true
}

// planned returns the keys that the provider's projects and the runner read, or all.
func (c configuration) planned() []config.Key {
	provider, err := c.known.ByName(c.provider.Text)
	if err != nil {
		return c.declared
	}
	read := map[string]bool{config.ProtectKey: true, config.TTLKey: true, config.UseContextKey: true}
	for _, step := range provider.Steps {
		for _, key := range step.Project.Keys {
			read[key.Name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(c.declared), func(key config.Key) bool { return !read[key.Name] })
}

// check refuses keys that do not belong in the configuration.
func (c configuration) check(name string) error {
	if secret, ok := c.known.Secret(name); ok {
		return &failure.Usage{
			Text: name + " is a secret (" + secret.Doc + "), and secrets are not stored in " + c.file.File,
			Next: "set it with `runner secrets set " + name + "`",
		}
	}
	if variable := projects.CredentialVariable(name); variable != "" {
		return &failure.Usage{Text: name + " is a credential, and would be stored in plain text", Next: "set " + variable +
			" in " + config.EnvironmentFile}
	}
	if name == projects.SimulatedKey {
		return &failure.Usage{Text: name + " is reserved: the runner sets it in simulations", Next: "use --simulate"}
	}
	if wrong := config.Unknown(c.declared, name); wrong != "" {
		return &failure.Usage{Text: name + " " + wrong, Next: "`runner config list --all` shows all keys"}
	}
	return nil
}

// layer is the value of a key in one place.
type layer struct {
	Value  any
	Origin config.Origin
}

// layers returns all values of a key, the effective one first.
func (c configuration) layers(key config.Key) []layer {
	var layers []layer
	add := func(v config.Value) {
		if v.IsSet() {
			layers = append(layers, layer{v.Text, v.Origin})
		}
	}
	if _, file, ok := c.fileOf(key.Name); ok {
		entry, _ := file.Lookup(key.Name)
		layers = append(layers, layer{entry.Value, file.Origin(entry)})
	}
	if entry, ok := c.file.Lookup(key.Name); ok && entry.Value != nil {
		layers = append(layers, layer{entry.Value, c.file.Origin(entry)})
		for _, over := range entry.Over {
			layers = append(layers, layer{over.Value, config.Origin{Source: config.FromLayer, Name: key.Name, File: over.File,
				Line: over.Line}})
		}
	} else if key.Name == config.InfraType {
		add(c.provider)
	}
	for _, answer := range c.answers {
		if answer.Key == key.Name && len(layers) == 0 {
			layers = append(layers, layer{answer.Value, config.Origin{Source: config.FromCluster, Name: answer.Why}})
		}
	}
	add(key.Set(c.sources))
	if key.Default != nil {
		layers = append(layers, layer{key.Default, config.Origin{Source: config.FromDefault}})
	}
	return layers
}

type options struct {
	cmd.Common
	Key      string // the first argument
	All      bool   // list also shows keys at their defaults
	ExitCode bool   // for diff
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
