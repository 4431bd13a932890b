package configuration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/inventory"
	"mara/runner/internal/guard/query"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

func diffCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "compare the values and deployed resources of two environments",
		ArgsUsage: "ENVIRONMENT ENVIRONMENT",
		Description: "Shows the values that differ, with their origins. A key that is not set has its default. If " +
			"both environments are deployed, it also shows different outputs, and different numbers of resources by " +
			"type. Secrets are never shown, and encrypted values are not compared.\n\n" +
			"Examples:\n  runner config diff test prod\n  runner config diff eu-1 eu-2 --simulate\n" +
			"  runner config diff eu-1 eu-2 -o json --exit-code\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitChanges),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.BoolFlag{Name: "exit-code", Usage: "exit with code 5 if there are differences"},
				&cli.BoolFlag{Name: "simulate", Category: cmd.CommonCategory, Usage: "compare the simulated environments"},
			},
			cmd.OutputFlag("text", "json"), cmd.RootFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parse, runDiff),
	}
}

// differences are the differences between two environments, and their JSON form. A is the
// value of the first environment, B that of the second; null is a missing value.
type differences struct {
	A         string             `json:"a"`
	B         string             `json:"b"`
	Values    []valueDifference  `json:"values"`
	Outputs   []outputDifference `json:"outputs"`
	Resources []typeDifference   `json:"resources"`
}

type valueDifference struct {
	Key string      `json:"key"`
	A   listedValue `json:"a"`
	B   listedValue `json:"b"`
}

type outputDifference struct {
	Project string `json:"project"`
	Name    string `json:"name"`
	A       any    `json:"a"`
	B       any    `json:"b"`
}

type typeDifference struct {
	Project string `json:"project"`
	Type    string `json:"type"`
	A       int    `json:"a"`
	B       int    `json:"b"`
}

func (x differences) any() bool { return len(x.Values)+len(x.Outputs)+len(x.Resources) > 0 }

func runDiff(ctx context.Context, d cmd.Deps, o options) error {
	if len(o.Args) != 2 {
		return failure.Usagef("config diff", "name two environments")
	}
	known, err := config.Stacks(o.Root)
	if err != nil {
		return err
	}
	var both [2]configuration
	for i, stack := range o.Args {
		if o.Root != "" && !slices.Contains(known, stack) {
			return failure.Usagef("config diff", "no environment %q%s", stack, config.DidYouMean(stack, known))
		}
		if both[i], err = open(o.Of(stack)); err != nil {
			return err
		}
	}
	found := differences{A: o.Args[0], B: o.Args[1], Outputs: []outputDifference{}, Resources: []typeDifference{}}
	found.Values = valueDifferences(both[0], both[1])
	states, err := inventory.StatesOf(ctx, d.Deps, o.Options, o.Args)
	if err != nil {
		return err
	}
	deployed := len(states[found.A]) > 0 && len(states[found.B]) > 0
	if deployed {
		if err := found.addDeployed(states[found.A], states[found.B]); err != nil {
			return err
		}
	}
	err = o.Show(d, found, found.text(d.Width(), deployed))
	if err == nil && o.ExitCode && found.any() {
		err = cmd.Exit(cmd.ExitChanges)
	}
	return err
}

// valueDifferences compares the values of all keys that either environment has or reads.
func valueDifferences(a, b configuration) []valueDifference {
	keys := map[string]config.Key{}
	for _, c := range []configuration{a, b} {
		for _, key := range c.listed() {
			keys[key.Name] = key
		}
	}
	found := []valueDifference{}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		left, right := a.effective(keys[name]), b.effective(keys[name])
		if !reflect.DeepEqual(left.Value, right.Value) {
			found = append(found, valueDifference{Key: name, A: left, B: right})
		}
	}
	return found
}

// effective returns the effective value of a key. Encrypted values are all equal.
func (c configuration) effective(key config.Key) listedValue {
	if layers := c.layers(key); len(layers) > 0 {
		return newListedValue(key.Name, layers[0])
	}
	return listedValue{Key: key.Name}
}

func (x *differences) addDeployed(a, b map[string]json.RawMessage) error {
	for _, project := range model.Keys(a, b) {
		left, err := query.ContentsOf(project, a[project])
		if err != nil {
			return err
		}
		right, err := query.ContentsOf(project, b[project])
		if err != nil {
			return err
		}
		for _, name := range model.Keys(left.Outputs, right.Outputs) {
			if was, is := left.Outputs[name], right.Outputs[name]; !reflect.DeepEqual(was, is) {
				x.Outputs = append(x.Outputs, outputDifference{project, name, was, is})
			}
		}
		for _, name := range model.Keys(left.Types, right.Types) {
			if was, is := left.Types[name], right.Types[name]; was != is {
				x.Resources = append(x.Resources, typeDifference{project, name, was, is})
			}
		}
	}
	return nil
}

func (x differences) text(width int, deployed bool) string {
	if !x.any() {
		what := "no value"
		if deployed {
			what = "neither values nor deployed resources"
		}
		return fmt.Sprintf("%s and %s: %s differ\n", x.A, x.B, what)
	}
	a, b := typeset.Column{Title: x.A, Min: 12, Wrap: true}, typeset.Column{Title: x.B, Min: 12, Wrap: true}
	values := typeset.Table{Columns: []typeset.Column{{Title: "KEY"}, a, b}}
	for _, v := range x.Values {
		values.Rows = append(values.Rows, []string{v.Key, v.A.orDash(), v.B.orDash()})
	}
	outputs := typeset.Table{Columns: []typeset.Column{{Title: "OUTPUT"}, a, b}}
	for _, v := range x.Outputs {
		outputs.Rows = append(outputs.Rows, []string{v.Project + "/" + v.Name, shownOutput(v.A), shownOutput(v.B)})
	}
	resources := typeset.Table{Columns: []typeset.Column{{Title: "RESOURCES"}, {Title: "TYPE", Min: 12}, {Title: x.A},
		{Title: x.B}}}
	for _, v := range x.Resources {
		resources.Rows = append(resources.Rows, []string{v.Project, v.Type, strconv.Itoa(v.A), strconv.Itoa(v.B)})
	}
	var texts []string
	for _, table := range []typeset.Table{values, outputs, resources} {
		if len(table.Rows) > 0 {
			texts = append(texts, table.Text(width))
		}
	}
	return strings.Join(texts, "\n")
}

func shownOutput(value any) string {
	if value == nil {
		return "-"
	}
	return typeset.Value(value)
}

// orDash returns a value with its place, or "-".
func (v listedValue) orDash() string {
	if v.Origin == "" {
		return "-"
	}
	return v.shown()
}
