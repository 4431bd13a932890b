package simulate

import (
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// outputs makes all that a resource shows when it exists: its inputs, the
// package's defaults and generated values for what the inputs leave open, and
// the type's own outputs over them.
func (p Package) outputs(r Resource, o Object, inputs resource.PropertyMap) resource.PropertyMap {
	fields, open := fieldsOf(r.State)
	shown := resource.PropertyMap{}
	for name, f := range fields {
		if f.required || mustShow(f.t) {
			shown[resource.PropertyKey(name)] = resource.NewPropertyValue(o.generate(name, f.t))
		}
	}
	if p.Defaults != nil {
		shown = overlay(shown, restrict(p.Defaults(o), fields))
	}
	for key, v := range inputs {
		if _, known := fields[string(key)]; (known || open) && !v.IsNull() {
			shown[key] = v
		}
	}
	if r.Outputs != nil {
		shown = overlay(shown, r.Outputs(o))
	}
	conceal(shown, r.Secrets)
	return shown
}

// mustShow tells that an absent value would not do: lists and maps are empty
// rather than absent.
func mustShow(t reflect.Type) bool {
	return t.Kind() == reflect.Slice || t.Kind() == reflect.Map
}

// generate makes a value of a type. Strings say that they are simulated.
func (o Object) generate(name string, t reflect.Type) any {
	switch t.Kind() {
	case reflect.String:
		return "simulated-" + o.Hex(name, 12)
	case reflect.Bool:
		return false
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		return 0
	case reflect.Map:
		return map[string]any{}
	case reflect.Slice, reflect.Array:
		return []any{}
	case reflect.Struct:
		return o.generateObject(name, t)
	}
	return nil
}

func (o Object) generateObject(name string, t reflect.Type) map[string]any {
	fields, _ := fieldsOf(t)
	values := map[string]any{}
	for key, f := range fields {
		if f.required {
			values[key] = o.generate(name+"."+key, f.t)
		}
	}
	return values
}

// restrict keeps the values that a type has a place for.
func restrict(values map[string]any, fields map[string]field) map[string]any {
	kept := map[string]any{}
	for key, value := range values {
		if _, ok := fields[key]; ok {
			kept[key] = value
		}
	}
	return kept
}

// answer makes the result of a function.
func (i Invoke) answer(o Object) (resource.PropertyMap, error) {
	fields, _ := fieldsOf(i.Result)
	result := resource.PropertyMap{}
	for name, f := range fields {
		if value := o.Value(name); value != nil {
			result[resource.PropertyKey(name)] = resource.NewPropertyValue(value)
		} else if f.required || mustShow(f.t) {
			result[resource.PropertyKey(name)] = resource.NewPropertyValue(o.generate(name, f.t))
		}
	}
	if i.Answer != nil {
		values, err := i.Answer(o)
		if err != nil {
			return nil, err
		}
		result = overlay(result, values)
	}
	conceal(result, i.Secrets)
	return result, nil
}
