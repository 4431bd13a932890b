package configuration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model"
	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/survey"
)

func explainCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "explain one key: its value, origin, meaning and allowed values", ArgsUsage: "KEY",
		Description: "Shows the value, its origin and what it overrides; the key's meaning, default and allowed " +
			"values; and the projects that read it. What differs between clusters that are there already (provider " +
			"cluster) is asked from the cluster, and shown with the evidence.\n\n" +
			"Examples:\n  runner config explain eks:k8s_version -s dev\n" +
			"  runner config explain kind:http_port -s dev -p kind\n" +
			"  runner config explain eks:k8s_version -s dev -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags(cmd.OutputFlag("text", "json")),
		Action: cmd.Action(d, parseKey, runExplain),
	}
}

// explanation describes a key, and is its JSON form.
type explanation struct {
	view.Value
	Overrides     []view.Value `json:"overrides,omitempty"`
	Documentation string       `json:"documentation,omitempty"`
	Kind          config.Kind  `json:"kind,omitempty"`
	Required      bool         `json:"required"`
	Default       any          `json:"default,omitempty"`
	Allowed       []string     `json:"allowed,omitempty"`
	Min           *int         `json:"min,omitempty"`
	Max           *int         `json:"max,omitempty"`
	Example       string       `json:"example,omitempty"`
	Variables     []string     `json:"variables,omitempty"` // environment variables that set it, too
	Projects      []string     `json:"projects,omitempty"`  // projects that read it
}

func runExplain(ctx context.Context, d cmd.Deps, o options) error {
	c, err := OpenAsking(ctx, d, o)
	if err != nil {
		return err
	}
	key, declared := c.Key(o.Key)
	if _, imported := c.Imported[o.Key]; !declared && !imported {
		_, isThere := c.File.Lookup(o.Key)
		if _, isSecret := c.Known.Secret(o.Key); isSecret || !isThere {
			if err := c.check(o.Key); err != nil {
				return err
			}
		}
	}
	if err := c.ask(ctx, d, key); err != nil {
		fmt.Fprintf(d.Stderr, "warning: the cluster was not asked: %v\n", err)
	}
	e := c.explain(key)
	return o.Show(d, e, e.text(key))
}

// ask asks a cluster that is there already about a key which leaves the value to it.
func (c *Configuration) ask(ctx context.Context, d cmd.Deps, key config.Key) (err error) {
	provider, unknown := c.Known.ByName(c.Provider.Text)
	if unknown != nil || provider.Existing == nil {
		return nil
	}
	isAsked := slices.Contains(provider.Existing.Asked, key.Name)
	if entry, ok := c.File.Lookup(key.Name); !isAsked || ok && entry.Value != nil {
		return nil
	}
	env := c.Sources.Looking()
	c.Answers, err = survey.Ask(ctx, d.CloudClients, provider, c.Stack, c.File, env)
	return err
}

func (c Configuration) explain(key config.Key) explanation {
	e := explanation{
		Value:         view.Value{Key: key.Name},
		Documentation: key.Doc, Kind: key.Kind, Required: key.Required, Default: key.Default,
		Allowed: key.Allowed, Min: key.Min, Max: key.Max, Example: key.Example, Variables: key.Variables,
	}
	for _, project := range c.Known.Projects { // that read it
		if _, ok := project.Key(key.Name); ok {
			e.Projects = append(e.Projects, project.Name)
		}
	}
	for i, l := range c.Layers(key) {
		if value := view.NewValue(key.Name, l); i == 0 {
			e.Value = value
		} else {
			e.Overrides = append(e.Overrides, value)
		}
	}
	e.Missing = e.Origin == "" && key.Required
	return e
}

// text formats the explanation for people.
func (e explanation) text(key config.Key) string {
	var b strings.Builder
	b.WriteString(e.Key + "\n")
	line := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s  %s\n", title, text)
		}
	}
	line("value", e.Shown())
	for _, l := range e.Overrides {
		line("overrides", l.Shown())
	}
	line("meaning", e.Documentation)
	if key.Kind == "" {
		line("meaning", "not declared by any project; a Pulumi provider or one of your programs may read it")
	}
	line("type", string(e.Kind))
	if e.Default != nil {
		line("default", config.Show(e.Default))
	}
	line("accepts", strings.TrimPrefix(providers.Rule(key), "Takes "))
	line("example", e.Example)
	line("variables", strings.Join(e.Variables, ", "))
	line("read by", strings.Join(e.Projects, ", "))
	return b.String()
}

func referenceCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "reference", Usage: "print a reference of all projects: keys, secrets, outputs and dependencies",
		Description: "The page is Markdown. With a mara.yaml it describes the projects listed there, including " +
			"your own: what the section config of their Pulumi.yaml declares, and what mara.yaml adds. -p limits it " +
			"to one provider.\n\n" +
			"Examples:\n  runner config reference > docs/projects.md\n  runner config reference -p kind\n" +
			"  runner config reference -s dev\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.EnvironmentFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.ParseKnown, runReference),
	}
}

// referenceHead is the head of the page.
const referenceHead = `# The projects

Generated by ` + "`runner config reference`" + `. Set configuration keys in ` +
	"`config/pulumi/Pulumi.<stack>.yaml`" + `, or in the stack file of a project that
has its own; set secrets with ` + "`runner secrets`" + `.

`

func runReference(_ context.Context, d cmd.Deps, o cmd.Common) error {
	all, listed := o.Known().Providers, o.Known().Projects
	if o.Provider.IsSet() {
		p, err := o.ProviderOf(o.Provider)
		if err != nil {
			return err
		}
		all, listed = []model.Provider{p}, p.Projects()
	}
	return d.Print(string(providers.Reference(referenceHead, all, listed)))
}

func schemaCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of the stack file, for editors",
		Description: "The schema describes every key, including the keys of your own projects: type, default, " +
			"limits and meaning. Editors with a YAML language server complete and check a stack file whose first " +
			"line names the schema:\n\n" +
			"  # yaml-language-server: $schema=stack.schema.json\n\n" +
			"Examples:\n  runner config schema > config/pulumi/stack.schema.json\n" +
			"  runner config schema --root ../platform\n  runner config schema --no-color\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("json"), cmd.RootFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.ParseKnown, runSchema),
	}
}

func runSchema(_ context.Context, d cmd.Deps, o cmd.Common) error {
	text, err := providers.StackSchema(o.Known().Keys())
	if err != nil {
		return err
	}
	return d.Print(string(text))
}
