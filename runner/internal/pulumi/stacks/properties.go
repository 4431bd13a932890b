package stacks

import (
	"maps"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// propertiesOf lists the paths of the properties that differ before and after a
// step: those the provider names, else those whose outputs differ. It returns
// names, never values.
func propertiesOf(step apitype.StepEventMetadata) []string {
	switch {
	case step.Old == nil || step.New == nil:
		return nil
	case len(step.DetailedDiff) > 0:
		return slices.Sorted(maps.Keys(step.DetailedDiff))
	case len(step.Diffs) > 0:
		return slices.Sorted(slices.Values(step.Diffs))
	case step.Op != apitype.OpUpdate:
		return nil
	}
	var differing []string
	for name, before := range step.Old.Outputs {
		if !reflect.DeepEqual(before, step.New.Outputs[name]) {
			differing = append(differing, name)
		}
	}
	for name := range step.New.Outputs {
		if _, known := step.Old.Outputs[name]; !known {
			differing = append(differing, name)
		}
	}
	slices.Sort(differing)
	return differing
}
