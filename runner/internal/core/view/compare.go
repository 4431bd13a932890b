package view

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/session"
)

// Differences are the differences between two environments, and their JSON form. A is the
// value of the first environment, B that of the second; null is a missing value.
type Differences struct {
	A         string             `json:"a"`
	B         string             `json:"b"`
	Values    []ValueDifference  `json:"values"`
	Outputs   []OutputDifference `json:"outputs"`
	Resources []TypeDifference   `json:"resources"`
	Deployed  bool               `json:"-"` // both are, so that outputs and resources were compared
}

// ValueDifference is a key with different values.
type ValueDifference struct {
	Key string `json:"key"`
	A   Value  `json:"a"`
	B   Value  `json:"b"`
}

// OutputDifference is an output with different values.
type OutputDifference struct {
	Project string `json:"project"`
	Name    string `json:"name"`
	A       any    `json:"a"`
	B       any    `json:"b"`
}

// TypeDifference is a type with different numbers of resources.
type TypeDifference struct {
	Project string `json:"project"`
	Type    string `json:"type"`
	A       int    `json:"a"`
	B       int    `json:"b"`
}

// Any reports whether anything differs.
func (x Differences) Any() bool { return len(x.Values)+len(x.Outputs)+len(x.Resources) > 0 }

// valueDifferences compares the values of all keys that either environment has or reads.
func valueDifferences(a, b Values) []ValueDifference {
	keys := map[string]config.Key{}
	for _, c := range []Values{a, b} {
		for _, key := range c.Listed() {
			keys[key.Name] = key
		}
	}
	found := []ValueDifference{}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		left, right := a.Effective(keys[name]), b.Effective(keys[name])
		if !reflect.DeepEqual(left.Value, right.Value) {
			found = append(found, ValueDifference{Key: name, A: left, B: right})
		}
	}
	return found
}

// Effective returns the effective value of a key. Encrypted values are all equal.
func (c Values) Effective(key config.Key) Value {
	if layers := c.Layers(key); len(layers) > 0 {
		return NewValue(key.Name, layers[0])
	}
	return Value{Key: key.Name}
}

// addDeployed compares what is deployed.
func (x *Differences) addDeployed(a, b map[string]json.RawMessage) error {
	for _, project := range lists.Keys(a, b) {
		left, err := query.ContentsOf(project, a[project])
		if err != nil {
			return err
		}
		right, err := query.ContentsOf(project, b[project])
		if err != nil {
			return err
		}
		for _, name := range lists.Keys(left.Outputs, right.Outputs) {
			if was, is := left.Outputs[name], right.Outputs[name]; !reflect.DeepEqual(was, is) {
				x.Outputs = append(x.Outputs, OutputDifference{project, name, was, is})
			}
		}
		for _, name := range lists.Keys(left.Types, right.Types) {
			if was, is := left.Types[name], right.Types[name]; was != is {
				x.Resources = append(x.Resources, TypeDifference{project, name, was, is})
			}
		}
	}
	return nil
}

// Compare compares the values of two environments and, if both are deployed, their outputs and resources.
func Compare(ctx context.Context, d session.Deps, o session.Options, first, second string) (found Differences,
	err error) {
	var both [2]Values
	for i, stack := range []string{first, second} {
		if both[i], err = OpenValues(o.Of(stack)); err != nil {
			return found, err
		}
	}
	found = Differences{A: first, B: second, Outputs: []OutputDifference{}, Resources: []TypeDifference{}}
	found.Values = valueDifferences(both[0], both[1])
	states, err := inventory.StatesOf(ctx, d, o, []string{first, second})
	if err != nil {
		return found, err
	}
	if found.Deployed = len(states[first]) > 0 && len(states[second]) > 0; found.Deployed {
		err = found.addDeployed(states[first], states[second])
	}
	return found, err
}
