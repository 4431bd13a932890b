package simulate

import (
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/config/lists"
)

// plain turns a property into Go values, without secrecy. What is not known
// yet becomes nil.
func plain(v resource.PropertyValue) any {
	v = reveal(v)
	switch {
	case isUnknown(v):
		return nil
	case v.IsArray():
		list := make([]any, len(v.ArrayValue()))
		for i, item := range v.ArrayValue() {
			list[i] = plain(item)
		}
		return list
	case v.IsObject():
		return plainMap(v.ObjectValue())
	case v.IsResourceReference():
		id, _ := v.ResourceReferenceValue().IDString()
		return id
	}
	return v.V
}

func plainMap(m resource.PropertyMap) map[string]any {
	values := make(map[string]any, len(m))
	for key, v := range m {
		if value := plain(v); value != nil {
			values[string(key)] = value
		}
	}
	return values
}

// reveal removes the outer layers that say secret or known output.
func reveal(v resource.PropertyValue) resource.PropertyValue {
	for {
		switch {
		case v.IsSecret():
			v = v.SecretValue().Element
		case v.IsOutput() && v.OutputValue().Known:
			v = v.OutputValue().Element
		default:
			return v
		}
	}
}

func isUnknown(v resource.PropertyValue) bool {
	return v.IsComputed() || v.IsOutput() && !v.OutputValue().Known
}

// revealAll removes secrecy at every depth, for comparisons.
func revealAll(v resource.PropertyValue) resource.PropertyValue {
	return mapItems(reveal(v), revealAll)
}

// mapItems applies turn to the items of a list or an object, and returns other values
// unchanged.
func mapItems(
	v resource.PropertyValue, turn func(resource.PropertyValue) resource.PropertyValue,
) resource.PropertyValue {
	switch {
	case v.IsArray():
		return resource.NewArrayProperty(lists.Map(v.ArrayValue(), turn))
	case v.IsObject():
		turned := make(resource.PropertyMap, len(v.ObjectValue()))
		for key, item := range v.ObjectValue() {
			turned[key] = turn(item)
		}
		return resource.NewObjectProperty(turned)
	}
	return v
}

// overlay lays plain values over properties: objects by key, lists of equal
// length by position, everything else as a whole. A nil removes a key.
func overlay(base resource.PropertyMap, over map[string]any) resource.PropertyMap {
	merged := base.Copy()
	for name, value := range over {
		key := resource.PropertyKey(name)
		if value == nil {
			delete(merged, key)
			continue
		}
		merged[key] = overlayValue(merged[key], value)
	}
	return merged
}

func overlayValue(base resource.PropertyValue, over any) resource.PropertyValue {
	if base.IsSecret() {
		return resource.MakeSecret(overlayValue(base.SecretValue().Element, over))
	}
	if values, ok := over.(map[string]any); ok {
		return resource.NewObjectProperty(overlay(as[resource.PropertyMap](base.V), values))
	}
	items, ok := over.([]any)
	if !ok {
		return resource.NewPropertyValue(over)
	}
	list := make([]resource.PropertyValue, len(items))
	for i, item := range items {
		var below resource.PropertyValue
		if base.IsArray() && len(base.ArrayValue()) == len(items) {
			below = base.ArrayValue()[i]
		}
		list[i] = overlayValue(below, item)
	}
	return resource.NewArrayProperty(list)
}

// forecast turns outputs into what a preview may claim: values that are given
// by the inputs or unchanged since the last operation. The rest is unknown.
func forecast(outputs, inputs, old resource.PropertyMap) resource.PropertyMap {
	seen := make(resource.PropertyMap, len(outputs))
	for key, v := range outputs {
		seen[key] = forecastValue(v, inputs[key], old[key])
	}
	return seen
}

func forecastValue(output, input, old resource.PropertyValue) resource.PropertyValue {
	if !old.IsNull() && revealAll(output).DeepEquals(revealAll(old)) {
		return old
	}
	if output.IsSecret() {
		return resource.MakeSecret(forecastValue(output.SecretValue().Element, reveal(input), reveal(old)))
	}
	input, old = reveal(input), reveal(old)
	switch {
	case input.IsNull() || isUnknown(input):
		return resource.MakeComputed(resource.NewStringProperty(""))
	case output.IsObject() && input.IsObject():
		before := as[resource.PropertyMap](old.V)
		return resource.NewObjectProperty(forecast(output.ObjectValue(), input.ObjectValue(), before))
	case output.IsArray() && input.IsArray() && len(output.ArrayValue()) == len(input.ArrayValue()):
		return forecastList(output.ArrayValue(), input.ArrayValue(), old)
	}
	return input
}

func forecastList(outputs, inputs []resource.PropertyValue, old resource.PropertyValue) resource.PropertyValue {
	seen := make([]resource.PropertyValue, len(outputs))
	for i, v := range outputs {
		var before resource.PropertyValue
		if old.IsArray() && len(old.ArrayValue()) == len(outputs) {
			before = old.ArrayValue()[i]
		}
		seen[i] = forecastValue(v, inputs[i], before)
	}
	return resource.NewArrayProperty(seen)
}

// conceal makes the named outputs secret.
func conceal(outputs resource.PropertyMap, keys []string) {
	for _, name := range keys {
		key := resource.PropertyKey(name)
		if v, ok := outputs[key]; ok && !v.IsSecret() {
			outputs[key] = resource.MakeSecret(v)
		}
	}
}
