package examine

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// serverFields are fields that the API server sets, and that a dry run changes
// although nothing else differs.
var serverFields = map[string]bool{
	"status": true, "metadata.managedFields": true, "metadata.resourceVersion": true,
	"metadata.generation": true, "metadata.creationTimestamp": true, "metadata.uid": true,
	"metadata.annotations.deprecated.daemonset.template.generation": true,
}

// changed lists the fields in which two objects differ, in order.
func changed(live, applied map[string]any) []string {
	var fields []string
	compareMaps("", live, applied, &fields)
	slices.Sort(fields)
	return fields
}

func compareMaps(path string, live, applied map[string]any, fields *[]string) {
	keys := maps.Clone(live)
	maps.Copy(keys, applied)
	for key := range keys {
		at := key
		if path != "" {
			at = path + "." + key
		}
		if !serverFields[at] {
			compareValues(at, live[key], applied[key], fields)
		}
	}
}

func compareValues(path string, live, applied any, fields *[]string) {
	switch is := live.(type) {
	case map[string]any:
		if other, ok := applied.(map[string]any); ok {
			compareMaps(path, is, other, fields)
			return
		}
	case []any:
		if other, ok := applied.([]any); ok && len(is) == len(other) {
			for i := range is {
				compareValues(fmt.Sprintf("%s[%d]", path, i), is[i], other[i], fields)
			}
			return
		}
	}
	if !reflect.DeepEqual(live, applied) {
		*fields = append(*fields, path)
	}
}
