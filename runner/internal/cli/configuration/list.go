package configuration

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
)

func listCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list the configuration: every value and its origin",
		Description: "Shows the keys that are set or missing. --all adds the keys at their defaults that the projects of " +
			"the\n" +
			"environment's provider read. Encrypted values are never shown.\n\n" +
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
	return listedValue{
		Key: key, Value: redacted(l.Value),
		Origin: string(l.Origin.Source), File: l.Origin.File, Line: l.Origin.Line, place: placeOf(l.Origin),
	}
}

// placeOf returns a short form of an origin.
func placeOf(o config.Origin) string {
	if o.Source == config.FromStackConfig || o.Source == config.FromLayer {
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return o.String()
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
