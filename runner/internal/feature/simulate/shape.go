package simulate

import (
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/asset"
)

// show makes all that a resource shows when it exists: its inputs, defaults and
// generated values for what the inputs leave open, and the type's own outputs over
// them.
func (d described) show(p Package, o Object, inputs resource.PropertyMap) resource.PropertyMap {
	shown := o.generated(d.outputs)
	if p.Defaults != nil {
		shown = overlay(shown, d.outputs.restrict(p.Defaults(o)))
	}
	shown = overlay(shown, d.Defaults)
	for key, v := range inputs {
		if v, ok := d.outputs.taken(o, string(key), v); ok {
			shown[key] = v
		}
	}
	if d.Outputs != nil {
		shown = overlay(shown, d.Outputs(o))
	}
	conceal(shown, d.secrets)
	return shown
}

// taken returns an input as its output shows it, if there is one. If only the schema of
// a type is known, it generates the values that the cloud would add below.
func (f fields) taken(o Object, name string, v resource.PropertyValue) (resource.PropertyValue, bool) {
	t, known := f.types[name]
	switch {
	case v.IsNull() || !known && !f.open:
		return v, false
	case !known || !f.only:
		return v, true
	}
	c := checker{schema: f.schema}
	v = o.complete(name, f.schema, v, t)
	c.value(name, v, t)
	return v, len(c.problems) == 0
}

// generated generates values for required properties.
func (o Object) generated(f fields) resource.PropertyMap {
	made := resource.PropertyMap{}
	for name, t := range f.types {
		if slices.Contains(f.required, name) || f.schema.mustShow(t) {
			made[resource.PropertyKey(name)] = resource.NewPropertyValue(o.generate(name, f.schema, t))
		}
	}
	return made
}

// mustShow reports whether a value of a type is never absent: lists and maps are empty
// rather than absent.
func (s *schema) mustShow(t *typeSpec) bool {
	t = s.resolve(t)
	return t.Type == "array" || t.Type == "object" && !t.isObject()
}

// generate makes a value of a type. Strings say that they are simulated.
func (o Object) generate(name string, s *schema, t *typeSpec) any {
	if t.Const != nil {
		return t.Const
	}
	t = s.resolve(t)
	switch {
	case len(t.Enum) > 0:
		return t.Enum[0].Value
	case len(t.OneOf) > 0:
		return o.generate(name, s, t.OneOf[0])
	}
	switch t.Type {
	case "boolean":
		return false
	case "integer", "number":
		return 0
	case "array":
		return []any{}
	case "object":
		return o.generateObject(name, s, t)
	case "asset":
		text, _ := asset.FromText("SIMULATED")
		return text
	}
	return "simulated-" + o.Hex(name, 12)
}

func (o Object) generateObject(name string, s *schema, t *typeSpec) map[string]any {
	values := map[string]any{}
	for _, key := range t.Required {
		if of := t.Properties[key]; of != nil {
			values[key] = o.generate(name+"."+key, s, of)
		}
	}
	return values
}

// restrict keeps the values that there is a place for.
func (f fields) restrict(values map[string]any) map[string]any {
	kept := map[string]any{}
	for key, value := range values {
		if _, ok := f.types[key]; ok {
			kept[key] = value
		}
	}
	return kept
}

// complete adds to a value what its type requires.
func (o Object) complete(name string, s *schema, v resource.PropertyValue, t *typeSpec) resource.PropertyValue {
	t = s.resolve(t)
	switch {
	case v.IsSecret():
		return resource.MakeSecret(o.complete(name, s, v.SecretValue().Element, t))
	case v.IsArray() && t.Type == "array":
		return mapItems(v, func(item resource.PropertyValue) resource.PropertyValue {
			return o.complete(name, s, item, t.Items)
		})
	case v.IsObject() && t.Type == "object" && t.isObject():
		object := resource.NewPropertyMapFromMap(o.generateObject(name, s, t))
		for key, item := range v.ObjectValue() {
			if of := t.Properties[string(key)]; of != nil {
				item = o.complete(name+"."+string(key), s, item, of)
			}
			object[key] = item
		}
		return resource.NewObjectProperty(object)
	}
	return v
}
