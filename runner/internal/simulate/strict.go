package simulate

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/config"
)

// checker compares properties with Go types and collects what is wrong.
type checker struct {
	problems []Problem
}

// checkInputs compares inputs with a struct whose fields carry `pulumi` tags:
// unknown names, missing required inputs and wrong types are problems. Values
// that are not known yet pass.
func checkInputs(inputs resource.PropertyMap, t reflect.Type) []Problem {
	var c checker
	c.object("", inputs, t)
	slices.SortFunc(c.problems, func(a, b Problem) int {
		return strings.Compare(a.Path+" "+a.Reason, b.Path+" "+b.Reason)
	})
	return c.problems
}

func (c *checker) report(path, format string, args ...any) {
	c.problems = append(c.problems, Problem{Path: path, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) object(path string, m resource.PropertyMap, t reflect.Type) {
	fields, open := fieldsOf(t)
	for key, v := range m {
		name := string(key)
		field, ok := fields[name]
		switch {
		case ok:
			c.value(join(path, name), v, field)
		case !open && !strings.HasPrefix(name, "__"):
			c.report(join(path, name), "unknown input %q%s", join(path, name), config.DidYouMean(name, names(fields)))
		}
	}
	for name, field := range fields {
		if field.required && m[resource.PropertyKey(name)].IsNull() {
			c.report(join(path, name), "missing required input %q, %s", join(path, name), describeType(field.t))
		}
	}
}

func (c *checker) value(path string, v resource.PropertyValue, f field) {
	v = reveal(v)
	if v.IsNull() || isUnknown(v) {
		return
	}
	t := f.t
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !c.fits(path, v, t) {
		c.report(path, "%q must be %s, not %s", path, describeType(t), describeValue(v))
	}
}

// fits tells whether a known value is of a type; what is wrong below it is
// reported on the way.
func (c *checker) fits(path string, v resource.PropertyValue, t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return v.IsString() || v.IsResourceReference()
	case reflect.Bool:
		return v.IsBool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.IsNumber() && v.NumberValue() == math.Trunc(v.NumberValue())
	case reflect.Float32, reflect.Float64:
		return v.IsNumber()
	case reflect.Slice, reflect.Array:
		return c.list(path, v, t.Elem())
	case reflect.Map:
		return c.dictionary(path, v, t.Elem())
	case reflect.Struct:
		if v.IsObject() {
			c.object(path, v.ObjectValue(), t)
		}
		return v.IsObject()
	}
	return true // an interface takes anything
}

func (c *checker) list(path string, v resource.PropertyValue, item reflect.Type) bool {
	if !v.IsArray() {
		return false
	}
	for i, element := range v.ArrayValue() {
		c.value(path+"["+strconv.Itoa(i)+"]", element, field{t: item})
	}
	return true
}

func (c *checker) dictionary(path string, v resource.PropertyValue, item reflect.Type) bool {
	if !v.IsObject() {
		return false
	}
	for key, element := range v.ObjectValue() {
		c.value(path+"["+strconv.Quote(string(key))+"]", element, field{t: item})
	}
	return true
}

// field is one property of a struct with `pulumi` tags.
type field struct {
	t        reflect.Type
	required bool
}

// fieldsOf lists a struct's properties by name. The struct is open when it
// takes properties that it does not list.
//
// A plain value is required, a pointer is optional. Of lists, maps and
// interfaces the type does not tell; the SDKs check the required ones
// themselves before the engine sees the resource.
func fieldsOf(t reflect.Type) (fields map[string]field, open bool) {
	fields = map[string]field{}
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("pulumi")
		if !ok {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			open = true
			continue
		}
		ft := elementType(t.Field(i).Type)
		fields[name] = field{t: ft, required: isRequired(ft) && options != "optional"}
	}
	return fields, open
}

func isRequired(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return false
	}
	return true
}

// elementType is the type behind one of the SDK's outputs or inputs, such as
// string behind pulumi.StringOutput, and the type itself for all others.
func elementType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return t
	}
	typed, ok := reflect.Zero(t).Interface().(interface{ ElementType() reflect.Type })
	if !ok {
		return t
	}
	return typed.ElementType()
}

// checkConfig is checkInputs for a provider's configuration, where values
// other than strings may also arrive as JSON text, and where the engine adds
// keys of its own.
func checkConfig(inputs resource.PropertyMap, t reflect.Type) []Problem {
	return checkInputs(decodeConfig(inputs, t), t)
}

func decodeConfig(inputs resource.PropertyMap, t reflect.Type) resource.PropertyMap {
	fields, _ := fieldsOf(t)
	decoded := resource.PropertyMap{}
	for key, v := range inputs {
		if key == "version" || key == "pluginDownloadURL" {
			continue
		}
		decoded[key] = decodeJSON(v, fields[string(key)].t)
	}
	return decoded
}

func decodeJSON(v resource.PropertyValue, t reflect.Type) resource.PropertyValue {
	if t == nil || !reveal(v).IsString() {
		return v
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var value any
	if t.Kind() == reflect.String || json.Unmarshal([]byte(reveal(v).StringValue()), &value) != nil {
		return v
	}
	return resource.NewPropertyValue(value)
}

func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return describeType(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map:
		return "a map"
	case reflect.Struct:
		return "an object (" + t.Name() + ")"
	}
	return "any value"
}

// describeValue names what a value is and never what it says: it may be secret.
func describeValue(v resource.PropertyValue) string {
	switch {
	case v.IsString():
		return "a string"
	case v.IsBool():
		return "a boolean"
	case v.IsNumber():
		return "a number"
	case v.IsArray():
		return "a list"
	case v.IsObject():
		return "an object"
	}
	return "a " + v.TypeString()
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func names[T any](m map[string]T) []string {
	list := make([]string, 0, len(m))
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
