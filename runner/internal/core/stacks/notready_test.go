package stacks

import (
	"errors"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

// TestNotReady: Pods are looked at where a resource has waited for them, and Namespaces that do not go.
func TestNotReady(t *testing.T) {
	t.Parallel()
	const (
		release    = "urn:pulumi:dev::vpc::kubernetes:helm.sh/v3:Release::prometheus"
		deployment = "urn:pulumi:dev::vpc::kubernetes:apps/v1:Deployment::frontend"
		late       = "1 error occurred:\n\t* Helm release \"prometheus/prometheus\" was created, but failed to initialize completely. Use Helm CLI to investigate.: " +
			"failed to become available within allocated timeout. Error: Helm Release prometheus/prometheus: context deadline exceeded\n\n"
	)
	for _, test := range []struct {
		name, urn, message string
		operation          operation.Operation
		want               bool
		stuck              []string
	}{
		{"a release", release, late, operation.Up, true, nil},
		{"a Deployment", deployment, "4 errors occurred:\n\t* resource bank/frontend was successfully created, but the Kubernetes API server reported that it failed to fully initialize " +
			"or become live: 'frontend' timed out waiting to be Ready\n\t* [MinimumReplicasUnavailable] Deployment does not have minimum availability.\n\n", operation.Up, true, nil},
		{"a release in a destroy", release, late, operation.Destroy, false, nil},
		{"a Namespace that does not go", "urn:pulumi:dev::vpc::kubernetes:core/v1:Namespace::shop", "timed out waiting for the condition", operation.Destroy, false, []string{"shop"}},
		{"a Namespace that does not come", "urn:pulumi:dev::vpc::kubernetes:core/v1:Namespace::shop", "timed out waiting for the condition", operation.Up, false, nil},
		{"a chart that is not there", release, "could not download chart: not found", operation.Up, false, nil},
		{"a Secret", secretURN, "context deadline exceeded", operation.Up, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := open(t, []string{"vpc"}, call{args: string(test.operation), err: failed(), events: []apitype.EngineEvent{diagnostic("error", test.message, test.urn)}})
			_, err := e.Operate(t.Context(), Task{Operation: test.operation, Step: step("vpc")}, func(event.Event) {})
			var notReady *NotReadyError
			if got := errors.As(err, &notReady); got != test.want {
				t.Errorf("%v for %v", got, err)
			}
			var stuck *StuckError
			if errors.As(err, &stuck) != (test.stuck != nil) || stuck != nil && !slices.Equal(stuck.Namespaces, test.stuck) {
				t.Errorf("stuck is %v for %v", stuck, err)
			}
		})
	}
}
