package simulate

import (
	"math"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/config/lists"
)

// isBridged reports whether the provider is a bridged one, which Pulumi has generated from Terraform's. Such a provider
// converts scalars that its schema writes otherwise; others take only what the schema says.
func (s *schema) isBridged() bool {
	// The format of modules is in every schema that the bridge generates, and in no other.
	return s.Meta.ModuleFormat == "(.*)(?:/[^/]*)"
}

// coerced returns properties with scalars as the bridge to Terraform converts them: numbers and booleans where the schema
// has strings, and strings where it has numbers or booleans. What cannot be converted stays, for the check to refuse.
func (f fields) coerced(m resource.PropertyMap) resource.PropertyMap {
	if !f.converts {
		return m
	}
	return f.schema.coerceObject(m, f.types)
}

func (s *schema) coerceObject(m resource.PropertyMap, types map[string]*typeSpec) resource.PropertyMap {
	coerced := make(resource.PropertyMap, len(m))
	for key, v := range m {
		coerced[key] = v
		if t := types[string(key)]; t != nil {
			coerced[key] = s.coerce(v, t)
		}
	}
	return coerced
}

func (s *schema) coerce(v resource.PropertyValue, t *typeSpec) resource.PropertyValue {
	t = s.resolve(t)
	switch {
	case v.IsSecret():
		return resource.MakeSecret(s.coerce(v.SecretValue().Element, t))
	case v.IsOutput():
		output := v.OutputValue()
		output.Element = s.coerce(output.Element, t)
		return resource.NewProperty(output)
	case len(t.OneOf) > 0:
		return s.coerceOne(v, t.OneOf)
	case v.IsArray() && t.Type == "array" && t.Items != nil:
		items := lists.Map(v.ArrayValue(), func(item resource.PropertyValue) resource.PropertyValue { return s.coerce(item, t.Items) })
		return resource.NewProperty(items)
	case v.IsObject() && t.isObject():
		return resource.NewProperty(s.coerceObject(v.ObjectValue(), t.Properties))
	case v.IsObject() && t.Type == "object" && t.AdditionalProperties != nil:
		values := make(resource.PropertyMap, len(v.ObjectValue()))
		for key, value := range v.ObjectValue() {
			values[key] = s.coerce(value, t.AdditionalProperties)
		}
		return resource.NewProperty(values)
	}
	return coerceScalar(v, t.Type)
}

// coerceOne converts a value only where it is of none of the types as it is.
func (s *schema) coerceOne(v resource.PropertyValue, types []*typeSpec) resource.PropertyValue {
	fits := func(v resource.PropertyValue, t *typeSpec) bool {
		try := &checker{schema: s}
		try.value("", v, t)
		return len(try.problems) == 0
	}
	for _, t := range types {
		if fits(v, t) {
			return v
		}
	}
	for _, t := range types {
		if coerced := s.coerce(v, t); fits(coerced, t) {
			return coerced
		}
	}
	return v
}

// coerceScalar converts as Terraform does: texts are those that it reads as a number or a boolean.
func coerceScalar(v resource.PropertyValue, kind string) resource.PropertyValue {
	switch {
	case kind == "string" && v.IsBool():
		return resource.NewProperty(strconv.FormatBool(v.BoolValue()))
	case kind == "string" && v.IsNumber():
		return resource.NewProperty(strconv.FormatFloat(v.NumberValue(), 'f', -1, 64))
	case kind == "boolean" && v.IsString():
		if truth, ok := map[string]bool{"true": true, "1": true, "false": false, "0": false}[v.StringValue()]; ok {
			return resource.NewProperty(truth)
		}
	case (kind == "integer" || kind == "number") && v.IsString():
		number, err := strconv.ParseFloat(v.StringValue(), 64)
		if err == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
			return resource.NewProperty(number)
		}
	}
	return v
}
