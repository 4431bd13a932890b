package configuration

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/identity"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/repo/request"
)

func listCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the configuration: every value and its origin",
		Description: "Shows the keys that are set or missing. --all adds the keys at their defaults that the " +
			"projects of the environment's provider read. Encrypted values are never shown.\n\n" +
			"Examples:\n  runner config list -s dev\n  runner config list --all -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags([]cli.Flag{&cli.BoolFlag{Name: "all", Usage: "also show keys at their defaults"}},
			cmd.OutputFlag("text", "json")),
		Action: cmd.Action(d, parse, runList),
	}
}

func runList(_ context.Context, d cmd.Deps, o options) error {
	c, err := open(o.Request)
	if err != nil {
		return err
	}
	values, hidden := c.list(o.All)
	err = o.Show(d, values, valuesText(values, d.Width()))
	if err == nil && hidden > 0 && o.Output != "json" {
		fmt.Fprintf(d.Stderr, "%s at the default; --all shows them\n", typeset.Counted(hidden, "more key"))
	}
	return err
}

// listedValue is the JSON form of a key with its value.
type listedValue struct {
	Key     string `json:"key"`
	Value   any    `json:"value"`            // null if not set
	Origin  string `json:"origin,omitempty"` // where the value comes from
	File    string `json:"file,omitempty"`   // file that sets it
	Line    int    `json:"line,omitempty"`
	Missing bool   `json:"missing,omitempty"` // required, but not set
	place   string // origin as part of a sentence
}

func newListedValue(key string, l layer) listedValue {
	place := l.Origin.String()
	if l.Origin.Source == config.FromStackConfig || l.Origin.Source == config.FromLayer {
		place = fmt.Sprintf("%s:%d", l.Origin.File, l.Origin.Line)
	}
	return listedValue{
		Key: key, Value: redacted(l.Value),
		Origin: string(l.Origin.Source), File: l.Origin.File, Line: l.Origin.Line, place: place,
	}
}

// list returns the values of the declared keys in the order of the projects, then the
// values of other keys in the file, and how many keys it skipped.
func (c configuration) list(all bool) (values []listedValue, hidden int) {
	values = []listedValue{}
	for _, key := range c.listed() {
		layers := c.layers(key)
		switch {
		case len(layers) > 0 && (all || layers[0].Origin.Source != config.FromDefault):
			values = append(values, newListedValue(key.Name, layers[0]))
		case len(layers) == 0 && (all || key.Required):
			values = append(values, listedValue{Key: key.Name, Missing: key.Required})
		default:
			hidden++
		}
	}
	return values, hidden
}

// listed returns the keys of the provider's projects and the keys in the file.
func (c configuration) listed() []config.Key {
	keys := c.planned()
	for _, entry := range c.file.Entries {
		if !slices.ContainsFunc(keys, func(key config.Key) bool { return key.Name == entry.Key }) {
			keys = append(keys, config.Key{Name: entry.Key})
		}
	}
	return keys
}

func valuesText(values []listedValue, width int) string {
	table := typeset.Table{Columns: []typeset.Column{{Title: "KEY"}, {Title: "VALUE", Min: 12},
		{Title: "ORIGIN", Min: 12, Wrap: true}}}
	for _, v := range values {
		value, origin := Show(v.Value), v.place
		switch {
		case v.Missing:
			value, origin = "-", "missing"
		case v.Origin == "":
			value, origin = "-", "not set"
		}
		table.Rows = append(table.Rows, []string{v.Key, value, origin})
	}
	return table.Text(width)
}

func getCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "get", Usage: "print the value of one key, or its default", ArgsUsage: "KEY",
		Description: "A list or a map is printed as YAML on one line, which `runner config set` accepts. If a key " +
			"has no value, the exit code is 3.\n\n" +
			"Example:\n  runner config get eks:k8s_version -s dev\n\n" +
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

func setCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "set", Usage: "set one value in the stack file", ArgsUsage: "KEY VALUE",
		Description: "The value is validated and written with the type of the key: the version 1.30 stays a " +
			"string. Write a list with commas or as YAML, a map as YAML. The rest of the file does not change, " +
			"including comments; the file is created if it does not exist. Keys that no project declares are " +
			"accepted, because a Pulumi provider or one of your programs may read them, unless they look like a " +
			"typo.\n\n" +
			"Examples:\n  runner config set eks:k8s_version 1.35 -s dev\n" +
			"  runner config set vpc:azs us-east-1a,us-east-1b\n" +
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
	before := cmp.Or(request.RecordedProvider(o.Directory(), c.stack), c.provider.Text)
	if name == config.InfraType && before != "" && before != text {
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
