package cli

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/typeset"
)

func configListCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list the configuration: every value and where it comes from",
		Description: "Shows what is set, and what is missing. With --all it shows the keys at their defaults as well: those that\n" +
			"the projects of the environment's provider read. Encrypted values are never shown.\n\n" +
			"Examples:\n  runner config list -s dev\n  runner config list --all -o json\n\n" +
			exitText(exitDone, exitUsage, exitConfig),
		Flags: configFlags([]cli.Flag{&cli.BoolFlag{Name: "all", Usage: "show the keys at their defaults, too"}}, outputFlag("text", "json")),
		Action: func(c *cli.Context) error {
			o, err := parseConfigList(c, d)
			if err != nil {
				return err
			}
			return runConfigList(d, o)
		},
	}
}

type configListOptions struct {
	commonOptions
	All bool
}

func parseConfigList(c *cli.Context, d Deps) (configListOptions, error) {
	common, err := parseCommon(c, d)
	if err != nil {
		return configListOptions{}, err
	}
	_, err = arguments(c, 0)
	return configListOptions{commonOptions: common, All: c.Bool("all")}, err
}

func runConfigList(d Deps, o configListOptions) error {
	c, err := openConfiguration(o.commonOptions)
	if err != nil {
		return err
	}
	values, hidden := c.list(o.All)
	if o.Output == "json" {
		return writeJSON(d.Stdout, values)
	}
	if err := writeValues(d.Stdout, values, d.width()); err != nil {
		return err
	}
	if hidden > 0 {
		fmt.Fprintf(d.Stderr, "%d more keys have their defaults; --all shows them\n", hidden)
	}
	return nil
}

// configValue is the JSON form of a key with its value.
type configValue struct {
	Key     string `json:"key"`
	Value   any    `json:"value"`            // null when there is none
	Origin  string `json:"origin,omitempty"` // where the value comes from
	File    string `json:"file,omitempty"`   // that it is in
	Line    int    `json:"line,omitempty"`
	Missing bool   `json:"missing,omitempty"` // required, and nobody has set it
	place   string // in a sentence
}

func newConfigValue(key string, l layer) configValue {
	return configValue{
		Key: key, Value: withoutCredentials(config.Redacted(l.Value)),
		Origin: string(l.Origin.Source), File: l.Origin.File, Line: l.Origin.Line, place: placeOf(l.Origin),
	}
}

// placeOf is an origin in short: the key itself is shown beside it.
func placeOf(o config.Origin) string {
	if o.Source == config.FromStackConfig {
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return o.String()
}

// list is what the configuration says: declared keys in the order of the
// projects, then the others of the file. Hidden is how many were left out.
func (c configuration) list(all bool) (values []configValue, hidden int) {
	values = []configValue{}
	for _, key := range c.listed() {
		layers := c.layers(key)
		switch {
		case len(layers) > 0 && (all || layers[0].Origin.Source != config.FromDefault):
			values = append(values, newConfigValue(key.Name, layers[0]))
		case len(layers) == 0 && (all || key.Required):
			values = append(values, configValue{Key: key.Name, Missing: key.Required})
		default:
			hidden++
		}
	}
	return values, hidden
}

// listed are the keys of the provider's projects and those in the file.
func (c configuration) listed() []config.Key {
	keys := c.planned()
	for _, entry := range c.file.Entries {
		known := false
		for _, key := range keys {
			known = known || key.Name == entry.Key
		}
		if !known {
			keys = append(keys, config.Key{Name: entry.Key})
		}
	}
	return keys
}

func writeValues(w io.Writer, values []configValue, width int) error {
	table := typeset.Table{Columns: []typeset.Column{{Title: "KEY"}, {Title: "VALUE", Min: 12}, {Title: "ORIGIN", Min: 12, Wrap: true}}}
	for _, v := range values {
		value, origin := show(v.Value), v.place
		switch {
		case v.Missing:
			value, origin = "-", "missing"
		case v.Origin == "":
			value, origin = "-", "not set"
		}
		table.Rows = append(table.Rows, []string{v.Key, value, origin})
	}
	_, err := io.WriteString(w, table.Text(width))
	return err
}

func configGetCommand(d Deps) *cli.Command {
	return &cli.Command{
		Name: "get", Usage: "print the value of one key, in the file or else its default", ArgsUsage: "KEY",
		Description: "A list or a map is printed as YAML on one line, which `runner config set` takes. A key that has no value ends\n" +
			"with exit code 3.\n\nExample:\n  runner config get eks:k8s_version -s dev\n\n" +
			exitText(exitDone, exitUsage, exitConfig),
		Flags:  configFlags(outputFlag("text", "json")),
		Action: onKey(d, runConfigGet),
	}
}

func runConfigGet(d Deps, o commonOptions, name string) error {
	c, err := openConfiguration(o)
	if err != nil {
		return err
	}
	key, ok := c.key(name)
	if !ok {
		key = config.Key{Name: name}
	}
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
		return writeJSON(d.Stdout, newConfigValue(name, layers[0]))
	}
	if _, encrypted := layers[0].Value.(config.Ciphertext); encrypted {
		return &config.Error{Problems: []config.Problem{{
			File: c.file.File, Line: layers[0].Origin.Line, Key: name, Text: "is a secret, and is not shown",
		}}}
	}
	_, err = fmt.Fprintln(d.Stdout, show(layers[0].Value))
	return err
}
