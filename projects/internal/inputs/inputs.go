// Package inputs gives resources their inputs from structs with one field for each,
// where Pulumi's SDKs have two: what is given, and what the engine sees.
package inputs

import (
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Of returns the fields of a struct that are set, by the names in their `pulumi` tags.
func Of(args any) pulumi.Map {
	value := reflect.ValueOf(args)
	all := pulumi.Map{}
	for field, set := range value.Fields() {
		if input, ok := set.Interface().(pulumi.Input); ok {
			all[field.Tag.Get("pulumi")] = input
		}
	}
	return all
}

// List returns the input for a list of texts; nil for an empty one.
func List(texts []string) pulumi.StringArrayInput {
	if len(texts) == 0 {
		return nil
	}
	return pulumi.ToStringArray(texts)
}
