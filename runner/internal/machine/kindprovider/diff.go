package kindprovider

import (
	"encoding/json"
	"reflect"
	"strings"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
)

// diff compares two structs of inputs, field by field; the fields' tags say
// what cannot be changed. Names and ports can be taken only once, so the old
// resource is deleted before its replacement is created.
func diff[I any](before, after I) p.DiffResponse {
	response := p.DiffResponse{DeleteBeforeReplace: true, DetailedDiff: map[string]p.PropertyDiff{}}
	was, is := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range was.NumField() {
		field := was.Type().Field(i)
		if same(was.Field(i), is.Field(i)) {
			continue
		}
		kind := p.Update
		if replaces(field) {
			kind = p.UpdateReplace
		}
		response.HasChanges = true
		response.DetailedDiff[property(field)] = p.PropertyDiff{Kind: kind, InputDiff: true}
	}
	return response
}

// fixed returns the immutable inputs as JSON, by the names of their properties.
func fixed[I any](inputs I) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for field, value := range reflect.ValueOf(inputs).Fields() {
		switch {
		case !replaces(field):
		case isEmpty(value):
			values[property(field)] = json.RawMessage("null")
		default:
			values[property(field)], _ = json.Marshal(value.Interface()) // plain values only
		}
	}
	return values
}

// describe hands the `doc` tags of a struct's fields to an annotator.
func describe(a infer.Annotator, properties any) {
	for field, value := range reflect.ValueOf(properties).Elem().Fields() {
		if doc, ok := field.Tag.Lookup("doc"); ok {
			a.Describe(value.Addr().Interface(), doc)
		}
	}
}

func property(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("pulumi"), ",")
	return name
}

func replaces(field reflect.StructField) bool {
	return strings.Contains(field.Tag.Get("provider"), "replaceOnChanges")
}

// same takes an empty list or map for one that is not given.
func same(a, b reflect.Value) bool {
	return isEmpty(a) && isEmpty(b) || reflect.DeepEqual(a.Interface(), b.Interface())
}

func isEmpty(value reflect.Value) bool {
	return (value.Kind() == reflect.Slice || value.Kind() == reflect.Map) && value.Len() == 0
}
