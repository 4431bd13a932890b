package updateplan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/core/event"
)

// Difference is a deviation of a later preview of a project from the planned one.
type Difference struct {
	Resource event.Resource // zero for an output
	URN      string
	Output   string // name of the output; "" for a resource
	// Property is the path of the value that differs. It is empty if the operation on the
	// resource or the output differs.
	Property string
	// Planned and Now are the printed values or operations. Secret values read "[secret]".
	// Planned is empty for a resource or output that the plan does not have.
	Planned, Now string
}

// String describes the resource or the output, the property and both values.
func (d Difference) String() string {
	what := d.Resource.String()
	if d.Output != "" {
		what = "output " + d.Output
	}
	switch {
	case d.Property == "" && d.Output == "" && d.Planned == "":
		return fmt.Sprintf("%s of %s is not in the plan", d.Now, what)
	case d.Property == "" && d.Output == "":
		return fmt.Sprintf("%s of %s, not %s", d.Now, what, d.Planned)
	case d.Property == "" && d.Planned == "":
		return fmt.Sprintf("the change of %s is not in the plan: %s", what, d.Now)
	case d.Property == "":
		return fmt.Sprintf("another change of %s: %s, not %s", what, d.Now, d.Planned)
	case d.Planned == d.Now: // both are shortened
		return fmt.Sprintf("%s of %s is not the planned value, which begins in the same way: %s", d.Property, what, d.Now)
	default:
		return fmt.Sprintf("%s of %s: planned %s, now %s", d.Property, what, d.Planned, d.Now)
	}
}

// Differences lists how a later preview of a project deviates from this one. A value that
// was unknown may be anything now; a resource that would have been updated or replaced
// because of such a value may stay unchanged.
func (p Project) Differences(later Project) []Difference {
	planned := map[string][]Step{} // a resource may have several, such as a deletion that is pending and an update
	for _, step := range p.Steps {
		planned[step.URN] = append(planned[step.URN], step)
	}
	var differences []Difference
	for _, now := range later.Steps {
		if now.Op == "same" || now.Op == "read" {
			continue
		}
		difference := Difference{Resource: event.Resource{Type: now.Type, Name: now.Name}, URN: now.URN, Now: now.Op}
		before := planned[now.URN]
		i := slices.IndexFunc(before, func(step Step) bool { return step.Op == now.Op })
		if i < 0 {
			if len(before) > 0 {
				difference.Planned = before[0].Op
			}
			differences = append(differences, difference)
			continue
		}
		isUnknown := func(path string, _ any) bool { return slices.Contains(before[i].Unknown, path) }
		for _, value := range valueDifferences("", before[i].Inputs, now.Inputs, isUnknown) {
			value.Resource, value.URN = difference.Resource, difference.URN
			differences = append(differences, value)
		}
		planned[now.URN] = slices.Delete(slices.Clone(before), i, i+1)
	}
	return append(differences, p.outputDifferences(later)...)
}

// absent is printed for a missing value. Pulumi treats null as missing.
const absent = "nothing"

// isUnknownText reports whether a value reads as an unknown one: outputs have no list of those that are.
func isUnknownText(_ string, planned any) bool { return planned == Unknown }

// valueDifferences lists where a value differs from the planned one. Planned values that were unknown match anything.
func valueDifferences(path string, planned, now any, isUnknown func(path string, planned any) bool) []Difference {
	if isUnknown(path, planned) {
		return nil
	}
	if before, ok := planned.(map[string]any); ok {
		if after, ok := now.(map[string]any); ok {
			return mapDifferences(path, before, after, isUnknown)
		}
	}
	if before, ok := planned.([]any); ok {
		if after, ok := now.([]any); ok && len(after) == len(before) {
			var differences []Difference
			for i := range before {
				differences = append(differences, valueDifferences(fmt.Sprintf("%s[%d]", path, i), before[i], after[i], isUnknown)...)
			}
			return differences
		}
	}
	if isEmpty(planned) && isEmpty(now) || reflect.DeepEqual(planned, now) {
		return nil
	}
	return []Difference{{Property: path, Planned: valueText(planned, now), Now: valueText(now, planned)}}
}

// isEmpty reports whether a value is missing, such as the properties of a resource without
// inputs.
func isEmpty(value any) bool {
	properties, isMap := value.(map[string]any)
	return value == nil || isMap && properties == nil
}

func mapDifferences(
	path string, planned, now map[string]any, isUnknown func(path string, planned any) bool,
) []Difference {
	var differences []Difference
	for _, name := range lists.Keys(planned, now) {
		if name != defaultsKey {
			property := strings.TrimPrefix(path+"."+name, ".")
			differences = append(differences, valueDifferences(property, planned[name], now[name], isUnknown)...)
		}
	}
	return differences
}

// defaultsKey is the input in which Pulumi records which inputs have default values.
const defaultsKey = "__defaults"

// valueText prints a value. If the other value is secret, this one may be the same secret,
// which the program no longer marks, and is not printed.
func valueText(value, other any) string {
	switch {
	case value == nil:
		return absent
	case holdsMasked(other) && !holdsMasked(value):
		return "a value that is not secret"
	}
	return event.ValueText(value)
}

// holdsMasked reports whether a value of a document is secret or has a secret inside.
func holdsMasked(value any) bool {
	return holds(value, func(part any) bool {
		text, _ := part.(string)
		return strings.Contains(text, event.Masked)
	})
}

// outputDifferences lists how the output changes of a later preview differ from the planned
// ones.
func (p Project) outputDifferences(later Project) []Difference {
	planned := map[string]event.OutputChange{}
	for _, change := range p.Outputs {
		planned[change.Name] = change
	}
	var differences []Difference
	for _, now := range later.Outputs {
		before, ok := planned[now.Name]
		difference := Difference{Output: now.Name, Now: now.String()}
		switch {
		case !ok:
			differences = append(differences, difference)
		case before.Action != now.Action:
			difference.Planned = before.String()
			differences = append(differences, difference)
		default:
			for _, value := range valueDifferences("value", before.After, now.After, isUnknownText) {
				value.Output = now.Name
				differences = append(differences, value)
			}
		}
	}
	return differences
}
