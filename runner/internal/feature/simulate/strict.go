package simulate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/config"
	"mara/config/lists"
)

// checker compares properties with a schema and collects what is wrong.
type checker struct {
	schema   *schema
	problems []Problem
}

// checkInputs finds unknown names, missing required inputs and wrong types.
// Values that are not known yet pass.
func checkInputs(inputs resource.PropertyMap, f fields) []Problem {
	c := checker{schema: f.schema}
	c.object("", inputs, f)
	slices.SortFunc(c.problems, func(a, b Problem) int {
		return strings.Compare(a.Path+" "+a.Reason, b.Path+" "+b.Reason)
	})
	return c.problems
}

func (c *checker) report(path, format string, args ...any) {
	c.problems = append(c.problems, Problem{Path: path, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) object(path string, m resource.PropertyMap, f fields) {
	for key, v := range m {
		name := string(key)
		t, ok := f.types[name]
		switch {
		case ok:
			c.value(join(path, name), v, t)
		case !f.open && !strings.HasPrefix(name, "__"):
			c.report(join(path, name), "unknown input %q%s", join(path, name), config.DidYouMean(name, names(f.types)))
		}
	}
	for _, name := range f.required {
		if t := f.types[name]; t != nil && m[resource.PropertyKey(name)].IsNull() {
			c.report(join(path, name), "missing required input %q, %s", join(path, name), c.schema.describe(t))
		}
	}
}

func (c *checker) value(path string, v resource.PropertyValue, t *typeSpec) {
	v = reveal(v)
	if v.IsNull() || isUnknown(v) {
		return
	}
	isAmount := v.IsNumber() && c.schema.takesNumber != nil && c.schema.takesNumber(path)
	switch resolved := c.schema.resolve(t); {
	case isAmount && resolved.Type == "string":
	case !c.fits(path, v, resolved):
		c.report(path, "%q must be %s, not %s", path, c.schema.describe(t), describeValue(v))
	case t.Const != nil && v.V != t.Const:
		c.report(path, "%q must be %q", path, t.Const)
	case len(resolved.Enum) > 0 && !slices.Contains(resolved.Enum, struct{ Value any }{v.V}):
		c.report(path, "%q must be one of %s", path, resolved.values())
	}
}

// values lists what a type allows.
func (t *typeSpec) values() string {
	return strings.Join(lists.Map(t.Enum, func(e struct{ Value any }) string {
		return fmt.Sprintf("%q", fmt.Sprint(e.Value))
	}), ", ")
}

// fits reports whether a known value is of a type; what is wrong below it is
// reported on the way.
func (c *checker) fits(path string, v resource.PropertyValue, t *typeSpec) bool {
	if len(t.OneOf) > 0 {
		return c.fitsOne(path, v, t.OneOf)
	}
	switch t.Type {
	case "string":
		return v.IsString() || v.IsResourceReference()
	case "boolean":
		return v.IsBool()
	case "integer":
		return v.IsNumber() && v.NumberValue() == math.Trunc(v.NumberValue())
	case "number":
		return v.IsNumber()
	case "array":
		return c.list(path, v, t.Items)
	case "object":
		return c.objectOrMap(path, v, t)
	case "asset":
		return v.IsAsset() || v.IsArchive()
	}
	return true
}

// fitsOne reports whether a value is of one of the types. Where it only nearly is,
// the reasons of the first such type are reported.
func (c *checker) fitsOne(path string, v resource.PropertyValue, types []*typeSpec) bool {
	var near *checker
	for _, t := range types {
		try := &checker{schema: c.schema}
		t = c.schema.resolve(t)
		fits := try.fits(path, v, t)
		if fits && len(try.problems) == 0 {
			return true
		}
		if fits && near == nil {
			near = try
		}
	}
	if near != nil {
		c.problems = append(c.problems, near.problems...)
	}
	return near != nil
}

func (c *checker) list(path string, v resource.PropertyValue, item *typeSpec) bool {
	if !v.IsArray() {
		return false
	}
	for i, element := range v.ArrayValue() {
		c.value(path+"["+strconv.Itoa(i)+"]", element, item)
	}
	return true
}

func (c *checker) objectOrMap(path string, v resource.PropertyValue, t *typeSpec) bool {
	switch {
	case !v.IsObject():
		return false
	case t.isObject():
		c.object(path, v.ObjectValue(), c.schema.of(t))
		return true
	}
	for key, element := range v.ObjectValue() {
		c.value(path+"["+strconv.Quote(string(key))+"]", element, t.AdditionalProperties)
	}
	return true
}

// decodeConfig returns a provider's configuration, in which values other than strings
// may also arrive as JSON strings, without the keys that the engine adds.
func decodeConfig(inputs resource.PropertyMap, f fields) resource.PropertyMap {
	decoded := resource.PropertyMap{}
	for key, v := range inputs {
		if key == "version" || key == "pluginDownloadURL" {
			continue
		}
		decoded[key] = f.decodeJSON(v, f.types[string(key)])
	}
	return decoded
}

func (f fields) decodeJSON(v resource.PropertyValue, t *typeSpec) resource.PropertyValue {
	var value any
	switch {
	case t == nil || !reveal(v).IsString() || f.schema.resolve(t).Type == "string":
		return v
	case json.Unmarshal([]byte(reveal(v).StringValue()), &value) != nil:
		return v
	}
	return resource.NewPropertyValue(value)
}

// describe names a type.
func (s *schema) describe(t *typeSpec) string {
	t = s.resolve(t)
	switch {
	case len(t.OneOf) > 0:
		return strings.Join(slices.Compact(lists.Map(t.OneOf, s.describe)), " or ")
	case t.Type == "object" && t.isObject() && t.name != "":
		return "an object (" + t.name + ")"
	case t.Type == "object":
		return "a map"
	}
	return cmp.Or(typeNames[t.Type], "any value")
}

var typeNames = map[string]string{
	"string": "a string", "boolean": "a boolean", "integer": "a whole number", "number": "a number", "array": "a list",
	"asset": "an asset or an archive",
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
	return slices.Sorted(maps.Keys(m))
}
