package kindprovider

import (
	"reflect"
	"strings"

	p "github.com/pulumi/pulumi-go-provider"
)

// diff compares two structs of inputs, field by field; the fields' tags say
// what cannot be changed. Names and ports are taken once, so what is replaced
// has to go first.
func diff[I any](before, after I) p.DiffResponse {
	response := p.DiffResponse{DeleteBeforeReplace: true, DetailedDiff: map[string]p.PropertyDiff{}}
	was, is := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range was.NumField() {
		field := was.Type().Field(i)
		if same(was.Field(i), is.Field(i)) {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("pulumi"), ",")
		kind := p.Update
		if replaces(field) {
			kind = p.UpdateReplace
		}
		response.HasChanges = true
		response.DetailedDiff[name] = p.PropertyDiff{Kind: kind, InputDiff: true}
	}
	return response
}

func replaces(field reflect.StructField) bool {
	return strings.Contains(field.Tag.Get("provider"), "replaceOnChanges")
}

// same takes an empty list or map for one that is not given.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Slice, reflect.Map:
		if a.Len() == 0 && b.Len() == 0 {
			return true
		}
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
