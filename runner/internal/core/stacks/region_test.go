package stacks

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/updateplan"
)

// TestRegionOfProvider: a step says where its provider works, which may not be the default region.
func TestRegionOfProvider(t *testing.T) {
	t.Parallel()
	e := newEngineEvents(func(event.Event) {}, make(chan struct{}))
	e.mask = func(text string) string { return text }
	const providers = "urn:pulumi:dev::vpc::pulumi:providers:aws::"
	for name, region := range map[string]string{"frankfurt": "eu-central-1", "later": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"} {
		provider := metadata(apitype.OpCreate, "pulumi:providers:aws", name)
		provider.New = &apitype.StepEventStateMetadata{Inputs: map[string]any{"region": region}}
		e.take(events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: provider}}})
	}
	for _, name := range []string{"frankfurt", "later", "default"} {
		vpc := metadata(apitype.OpCreate, "aws:ec2/vpc:Vpc", name)
		vpc.Provider = providers + name + "::04da6b54"
		e.take(events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: vpc}}})
	}
	e.wait()
	got := map[string]string{}
	for _, step := range e.steps {
		got[step.Name] = step.Region
	}
	if len(got) != 3 || got["frankfurt"] != "eu-central-1" || got["later"] != updateplan.Unknown || got["default"] != "" {
		t.Errorf("%v", got)
	}
}
