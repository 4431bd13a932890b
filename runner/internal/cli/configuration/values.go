package configuration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/secrets"
	"mara/runner/internal/core/identity"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

func listCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the configuration: every value and its origin",
		Description: "Shows the keys that are set or missing. --all adds the keys at their defaults that the " +
			"projects of the environment's provider read. Encrypted values are never shown.\n\n" +
			"Examples:\n  runner config list -s dev\n  runner config list --all -o json\n" +
			"  runner config list -s dev -p kind\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags([]cli.Flag{&cli.BoolFlag{Name: "all", Usage: "also show keys at their defaults"}},
			cmd.OutputFlag("text", "json")),
		Action: cmd.Action(d, parse, runList),
	}
}

func runList(ctx context.Context, d cmd.Deps, o options) error {
	c, err := OpenAsking(ctx, d, o)
	if err != nil {
		return err
	}
	values, hidden := c.List(o.All)
	err = o.Show(d, values, valuesText(values, d.Width()))
	if err == nil && hidden > 0 && o.Output != "json" {
		fmt.Fprintf(d.Stderr, "%s at the default; --all shows them\n", typeset.Counted(hidden, "more key"))
	}
	return err
}

func valuesText(values []view.Value, width int) string {
	table := typeset.Table{Columns: []typeset.Column{{Title: "KEY"}, {Title: "VALUE", Min: 12},
		{Title: "ORIGIN", Min: 12, Wrap: true}}}
	for _, v := range values {
		value, origin := view.Show(v.Value), v.Place
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
			"Examples:\n  runner config get eks:k8s_version -s dev\n" +
			"  runner config get kind:http_port -s dev -p kind\n" +
			"  runner config get eks:k8s_version -s dev -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags(cmd.OutputFlag("text", "json")),
		Action: cmd.Action(d, parseKey, runGet),
	}
}

func runGet(ctx context.Context, d cmd.Deps, o options) error {
	name := o.Key
	c, err := OpenAsking(ctx, d, o)
	if err != nil {
		return err
	}
	key, _ := c.Key(name)
	layers := c.Layers(key)
	if len(layers) == 0 {
		if err := c.check(name); err != nil {
			return err
		}
		return &config.Error{
			Problems: []config.Problem{{File: c.File.File, Key: name, Text: "is not set and has no default"}},
			Next:     fmt.Sprintf("set it with `runner config set %s VALUE -s %s`", name, c.Stack),
		}
	}
	if o.Output == "json" {
		return cmd.WriteJSON(d.Stdout, view.NewValue(name, layers[0]))
	}
	if _, encrypted := layers[0].Value.(config.Ciphertext); encrypted {
		return &config.Error{Problems: []config.Problem{{
			File: c.File.File, Line: layers[0].Origin.Line, Key: name, Text: "is a secret, and is not shown",
		}}}
	}
	return d.Print(view.Show(layers[0].Value) + "\n")
}

func setCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "set", Usage: "set one value in the stack file", ArgsUsage: "KEY [VALUE]",
		Description: "The value is validated and written with the type of the key: the version 1.30 stays a " +
			"string. Write a list with commas or as YAML, a map as YAML. The rest of the file does not change, " +
			"including comments; the file is created if it does not exist. Keys that no project declares are " +
			"accepted, because a Pulumi provider or one of your programs may read them, unless they look like a " +
			"typo. The value of a project with `stackFile: own` goes into the stack file next to its Pulumi.yaml, where " +
			"plain Pulumi finds it: a key that has the project's name, declared or not.\n\n" +
			"Examples:\n  runner config set eks:k8s_version 1.35 -s dev\n" +
			"  runner config set vpc:azs us-east-1a,us-east-1b\n" +
			"  runner config set nginx:values '{replicaCount: 2}'\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags([]cli.Flag{
			&cli.BoolFlag{Name: "path", Usage: "KEY is a path into a map or a list, as in Pulumi: db:replicas.eu[0]"},
			&cli.BoolFlag{Name: "plaintext", Usage: "store the value as it is, which is the default"},
			&cli.StringSliceFlag{Name: "secret", Usage: "store the secret `KEY`, as runner secrets set does: VALUE is the source of " +
				"its value, else it is asked for"},
		}, cmd.NewFlags(), cmd.OutputFlag("text", "json")),
		Action: func(c *cli.Context) error {
			if keys := c.StringSlice("secret"); len(keys) > 0 {
				return secrets.SetAction(d, keys[0])(c)
			}
			return cmd.Action(d, parseSet, runSet)(c)
		},
	}
}

func parseSet(c *cli.Context, d cmd.Deps, common cmd.Common) (options, error) {
	if c.NArg() < 2 {
		return options{}, failure.Usagef("config set", "name a key and its value")
	}
	o, err := parseKey(c, d, common)
	o.New, o.Path = c.Bool("new"), c.Bool("path")
	if key, path, ok := splitPath(o.Key); ok && o.Path && err == nil {
		o.Key, o.Within = key, path
	}
	return o, err
}

// splitPath splits a key with a path behind it, db:a.b[0], into the key and the path.
func splitPath(text string) (key, path string, ok bool) {
	namespace, rest, found := strings.Cut(text, ":")
	i := strings.IndexAny(rest, ".[")
	if !found || i <= 0 {
		return text, "", false
	}
	return namespace + ":" + rest[:i], strings.TrimPrefix(rest[i:], "."), true
}

// within returns the value of a key with another value at a path in it, and the steps of that path.
func within(value any, path, text string) (any, resource.PropertyPath, error) {
	inner, err := config.ParseFree(text)
	if err != nil {
		return nil, nil, &failure.Usage{Text: fmt.Sprintf("%s: %v", path, err)}
	}
	if number, err := strconv.Atoi(text); err == nil && strconv.Itoa(number) == text { // as Pulumi: 007 is no number
		inner = number
	} else if text == "true" || text == "false" {
		inner = text == "true"
	}
	steps, err := resource.ParsePropertyPath(path)
	if err != nil {
		return nil, nil, &failure.Usage{Text: fmt.Sprintf("%s is not a path: %v", path, err)}
	}
	value, err = put(value, steps, inner, path)
	return value, steps, err
}

// put returns a copy of a value in which a step leads to another value. Maps are made on the way.
func put(value any, steps resource.PropertyPath, inner any, path string) (any, error) {
	if len(steps) == 0 {
		return inner, nil
	}
	switch step := steps[0].(type) {
	case string:
		values, isMap := value.(map[string]any)
		if value != nil && !isMap {
			return nil, &failure.Usage{Text: fmt.Sprintf("%s: there is no map at %s, but %s", path, step, view.Show(value))}
		}
		values = maps.Clone(values)
		if values == nil {
			values = map[string]any{}
		}
		var err error
		values[step], err = put(values[step], steps[1:], inner, path)
		return values, err
	case int:
		items, isList := value.([]any)
		if value != nil && !isList || step < 0 || step > len(items) {
			return nil, &failure.Usage{Text: fmt.Sprintf("%s: there is no list with an item %d", path, step)}
		}
		items = slices.Clone(items)
		if step == len(items) {
			items = append(items, nil)
		}
		var err error
		items[step], err = put(items[step], steps[1:], inner, path)
		return items, err
	}
	return nil, &failure.Usage{Text: path + " is not a path"}
}

func runSet(ctx context.Context, d cmd.Deps, o options) error {
	name, text := o.Key, o.Args[1]
	o.ChangeProvider = name == config.InfraType
	c, err := Open(o.Request)
	if err != nil {
		return err
	}
	if !o.New {
		if err := cmd.CheckNewFile(ctx, d, o.Common, c.Stack); err != nil {
			return err
		}
	}
	var value any
	if o.Within == "" {
		if value, err = c.parse(name, text); err != nil {
			return err
		}
	} else if err := c.check(name); err != nil {
		return err
	}
	if c.File, err = c.PlaceOf(name); err != nil {
		return err
	}
	entry, exists := c.File.Lookup(name)
	change := config.Change{Key: name, Value: value}
	if o.Within != "" {
		if value, change.Within, err = within(entry.Value, o.Within, text); err != nil {
			return err
		}
		change.Value = value
	}
	if _, encrypted := entry.Value.(config.Ciphertext); encrypted {
		return c.refuse(name, "is encrypted; a plain value would reveal it",
			"remove it first with `runner config unset "+name+"`")
	}
	before := cmp.Or(request.RecordedProvider(o.Directory(), c.Stack), c.Provider.Text)
	if name == config.InfraType && before != "" && before != text {
		if err := checkProviderChange(ctx, d, o, c.Stack, before, text); err != nil {
			return err
		}
	}
	doubts, err := judge(d, o, c, change)
	if err != nil {
		return err
	}
	if err := c.write(change); err != nil {
		return err
	}
	for _, doubt := range doubts {
		if _, err := fmt.Fprintf(d.Stderr, "warning: %s\n", doubt); err != nil {
			return err
		}
	}
	summary := fmt.Sprintf("set %s to %s", name, view.Show(value))
	if exists {
		summary += fmt.Sprintf(" (was %s)", view.Show(entry.Value))
	}
	return o.showChange(d, c.File.File, value, entry.Value, summary)
}

// judge checks the configuration as `runner check` would after a change. Its error has what is wrong because of the
// change alone, and the doubts are those about the key; both are without the line that is not written yet.
func judge(d cmd.Deps, o options, c Configuration, change config.Change) (doubts []string, err error) {
	before, _ := problemsWith(d, o)
	after, found := problemsWith(d, o, change)
	var wrong []config.Problem
	for _, p := range after {
		p.File, p.Line = c.File.File, 0
		isSame := func(other config.Problem) bool { return other.Key == p.Key && other.Text == p.Text }
		if !slices.ContainsFunc(before, isSame) && (p.Key == change.Key || strings.Contains(p.Text, change.Key)) {
			wrong = append(wrong, p)
		}
	}
	if len(wrong) > 0 {
		return nil, &config.Error{Problems: wrong, Next: "nothing was written"}
	}
	for _, doubt := range found {
		if doubt.Key == change.Key {
			doubts = append(doubts, doubt.Key+" "+doubt.Text)
		}
	}
	return doubts, nil
}

// problemsWith returns what is wrong with the configuration after changes, and what is doubtful. It looks at files
// alone.
func problemsWith(d cmd.Deps, o options, changes ...config.Change) (problems, doubts []config.Problem) {
	of := o.Options
	of.Operation, of.Interactive = operation.Destroy, false // one that asks no cluster
	of.Overrides = append(slices.Clone(of.Overrides), changes...)
	s, err := session.ResolveToOperate(d.Deps, of)
	defer func() { _ = s.Close() }()
	wrong, _ := errors.AsType[*config.Error](err)
	if wrong != nil {
		problems = wrong.Problems
	}
	return problems, s.Doubts
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
		return cmd.WriteJSON(d.Stdout, change{File: file, Key: o.Key, Value: view.Redacted(value),
			Was: view.Redacted(was)})
	}
	_, err := fmt.Fprintf(d.Stderr, "%s: %s\n", file, text)
	return err
}

// ParseValue parses a value of a key from the command line.
func ParseValue(r request.Request, name, text string) (any, error) {
	return Configuration{view.Values{Known: r.Known(), Declared: r.DeclaredKeys(),
		File: config.StackFile{File: "the configuration"}}}.parse(name, text)
}

func (c Configuration) parse(name, text string) (any, error) {
	if err := c.check(name); err != nil {
		return nil, err
	}
	key, declared := c.Key(name)
	value, err := config.ParseFree(text)
	switch {
	case declared && c.File.Accepts(name):
		value, err = key.ParseAccepted(text)
	case declared:
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

func (c Configuration) refuse(key, text, next string) error {
	return &config.Error{Problems: []config.Problem{c.File.Problem(key, text)}, Next: next}
}

// RefuseOverridden returns an error if a file of a project alone sets a key: it would override the stack file.
func (c Configuration) RefuseOverridden(key string) error {
	project, file, ok := c.FileOf(key)
	if !ok {
		return nil
	}
	return c.refuse(key, "is set in "+file.File+", which overrides the stack file",
		fmt.Sprintf("change it there: `runner pulumi %s -s %s -- config set %s VALUE`", project, c.Stack, key))
}

// Write writes values into the stack file of an environment, all or none, and returns the file.
func Write(r request.Request, changes ...config.Change) (file string, err error) {
	c, err := Open(r)
	if err != nil {
		return "", err
	}
	for _, change := range changes {
		if err := c.RefuseOverridden(change.Key); err != nil {
			return "", err
		}
	}
	return c.File.File, c.write(changes...)
}

// write changes the stack file atomically.
func (c Configuration) write(changes ...config.Change) error {
	content, err := c.File.Own().Edit(changes...)
	if err != nil {
		return err
	}
	if filepath.IsAbs(c.File.File) { // the directory of a project may be outside of the root
		return c.refuse(changes[0].Key, "is in a file outside of this root, and is not changed", "change it there")
	}
	return request.Write(c.Root, c.File.File, content)
}

func unsetCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "unset", Usage: "remove one value from the stack file", ArgsUsage: "KEY",
		Description: "Resets the key to its default. The rest of the file does not change.\n\n" +
			"Examples:\n  runner config unset eks:k8s_version -s dev\n" +
			"  runner config unset kind:http_port -s dev\n" +
			"  runner config unset eks:k8s_version -s dev -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags(cmd.OutputFlag("text", "json")),
		Action: cmd.Action(d, parseKey, runUnset),
	}
}

func runUnset(_ context.Context, d cmd.Deps, o options) error {
	name := o.Key
	c, err := Open(o.Request)
	if err != nil {
		return err
	}
	if c.File, err = c.PlaceOf(name); err != nil {
		return err
	}
	entry, ok := c.File.Lookup(name)
	if !ok {
		if err := c.check(name); err != nil {
			return err
		}
		return o.showChange(d, c.File.File, nil, nil, name+" is not set")
	}
	if entry.File != "" {
		return c.refuse(name, "is set in a layer, not in "+c.File.File,
			"unset it for this environment with `"+name+": null` in "+config.DescriptionPath(c.Stack))
	}
	if err := c.write(config.Change{Key: name, Unset: true}); err != nil {
		return err
	}
	return o.showChange(d, c.File.File, nil, entry.Value, fmt.Sprintf("removed %s (was %s)", name,
		view.Show(entry.Value)))
}
