package stacks

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/updateplan"
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
	before, after := step.Old.Outputs, step.New.Outputs
	return slices.DeleteFunc(lists.Keys(before, after), func(name string) bool {
		_, was := before[name]
		return was && reflect.DeepEqual(before[name], after[name])
	})
}

// comparedIn returns which values of its steps an operation compares. An up that was previewed has shown them.
func comparedIn(op operation.Operation, mask func(string) string) func(apitype.StepEventMetadata) (updateplan.Step, bool) {
	switch op {
	case operation.Preview:
		return func(step apitype.StepEventMetadata) (updateplan.Step, bool) { return updateplan.NewStep(step, mask) }
	case operation.Drift, operation.Refresh:
		return func(step apitype.StepEventMetadata) (updateplan.Step, bool) { return updateplan.FoundStep(step, mask) }
	}
	return nil
}

// noteRegion notes the region that a provider is configured with. Providers come before their resources.
func (e *engineEvents) noteRegion(step apitype.StepEventMetadata) {
	if !strings.HasPrefix(step.Type, providerType) || step.New == nil {
		return
	}
	if region, ok := step.New.Inputs["region"].(string); ok {
		e.regions[step.URN] = region
	}
}

// regionOf returns the region of the provider that works on a resource; "" if the provider does not say one.
func (e *engineEvents) regionOf(step apitype.StepEventMetadata) string {
	provider := step.Provider
	if i := strings.LastIndex(provider, "::"); i >= 0 { // a reference is the URN and an id
		provider = provider[:i]
	}
	return updateplan.Text(e.regions[provider])
}
