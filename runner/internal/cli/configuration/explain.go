package configuration

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/cli/cmd"
)

func explainCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "explain one key: its value, origin, meaning and allowed values", ArgsUsage: "KEY",
		Description: "Shows the value, its origin and what it overrides; the key's meaning, default and allowed " +
			"values; and the projects that read it.\n\n" +
			"Example:\n  runner config explain eks:k8s_version -s dev\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags(cmd.OutputFlag("text", "json")),
		Action: cmd.Action(d, parseKey, runExplain),
	}
}

// explanation describes a key, and is its JSON form.
type explanation struct {
	listedValue
	Overrides     []listedValue `json:"overrides,omitempty"`
	Documentation string        `json:"documentation,omitempty"`
	Kind          config.Kind   `json:"kind,omitempty"`
	Required      bool          `json:"required"`
	Default       any           `json:"default,omitempty"`
	Allowed       []string      `json:"allowed,omitempty"`
	Min           *int          `json:"min,omitempty"`
	Max           *int          `json:"max,omitempty"`
	Example       string        `json:"example,omitempty"`
	Variables     []string      `json:"variables,omitempty"` // environment variables that set it, too
	Projects      []string      `json:"projects,omitempty"`  // projects that read it
}

func runExplain(_ context.Context, d cmd.Deps, o options) error {
	c, err := open(o.Request)
	if err != nil {
		return err
	}
	key, declared := c.key(o.Key)
	if !declared {
		_, isThere := c.file.Lookup(o.Key)
		if _, isSecret := c.known.Secret(o.Key); isSecret || !isThere {
			if err := c.check(o.Key); err != nil {
				return err
			}
		}
	}
	e := c.explain(key)
	return o.Show(d, e, e.text(key))
}

func (c configuration) explain(key config.Key) explanation {
	e := explanation{
		listedValue:   listedValue{Key: key.Name},
		Documentation: key.Doc, Kind: key.Kind, Required: key.Required, Default: key.Default,
		Allowed: key.Allowed, Min: key.Min, Max: key.Max, Example: key.Example, Variables: key.Variables,
		Projects: c.readers(key.Name),
	}
	for i, l := range c.layers(key) {
		if i == 0 {
			e.listedValue = newListedValue(key.Name, l)
			continue
		}
		e.Overrides = append(e.Overrides, newListedValue(key.Name, l))
	}
	e.Missing = e.Origin == "" && key.Required
	return e
}

// readers returns the projects that read a key.
func (c configuration) readers(key string) (names []string) {
	for _, project := range c.known.Projects {
		if _, ok := project.Key(key); ok {
			names = append(names, project.Name)
		}
	}
	return names
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
	line("value", e.shown())
	for _, l := range e.Overrides {
		line("overrides", l.shown())
	}
	line("meaning", e.Documentation)
	if key.Kind == "" {
		line("meaning", "not declared by any project; a Pulumi provider or one of your programs may read it")
	}
	line("type", string(e.Kind))
	if e.Default != nil {
		line("default", config.Show(e.Default))
	}
	line("accepts", providers.Rule(key))
	line("example", e.Example)
	line("variables", strings.Join(e.Variables, ", "))
	line("read by", strings.Join(e.Projects, ", "))
	return b.String()
}

// shown returns a value with its place.
func (v listedValue) shown() string {
	switch {
	case v.Missing:
		return "missing"
	case v.Origin == "":
		return "not set"
	}
	return fmt.Sprintf("%s (%s)", Show(v.Value), v.place)
}
