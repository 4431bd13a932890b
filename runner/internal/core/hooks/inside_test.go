package hooks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
	"mara/runner/internal/kube/examine"
)

func TestTellOfReleases(t *testing.T) {
	t.Parallel()
	var got []event.Event
	changes := tell("shop", "web", []examine.Difference{
		{Kind: "Service", Name: "shop/web", Missing: true},
		{Kind: "Deployment", Name: "shop/web", Fields: []string{"spec.replicas"}},
		{Kind: "Secret", Name: "shop/web", Unknown: "forbidden"},
	}, func(e event.Event) { got = append(got, e) })
	want := []event.Event{
		{Type: event.StepProgress, Resource: event.Resource{Type: "Service", Name: "shop/web of release web"}, Action: event.Delete, Status: event.ActionDone},
		{Type: event.StepProgress, Resource: event.Resource{Type: "Deployment", Name: "shop/web of release web"}, Action: event.Update, Status: event.ActionDone, Properties: []string{"spec.replicas"}},
		{Type: event.RunWarning, Message: "Secret shop/web of release web cannot be compared: forbidden"},
		{Type: event.StepLog, Severity: event.Info, Message: "to repair release web: helm get manifest web -n shop | kubectl apply -n shop --server-side --force-conflicts -f -"},
	}
	if diff := cmp.Diff(want, got); diff != "" || changes != (event.Changes{Update: 1, Delete: 1}) {
		t.Errorf("changes %+v, events (-want +got):\n%s", changes, diff)
	}
	got = nil
	if changes := tell("shop", "web", nil, func(e event.Event) { got = append(got, e) }); changes.Any() || len(got) > 0 {
		t.Errorf("of nothing: %+v, %v", changes, got)
	}
}
