package stacks

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/runner/internal/guard/updateplan"
)

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
