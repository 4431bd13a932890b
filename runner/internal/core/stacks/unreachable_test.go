package stacks

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/projects/model/operation"
)

const dropAdvice = ". If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the operation with the PULUMI_K8S_DELETE_UNREACHABLE environment variable set to \"true\""

// TestUnreachableCluster: whatever the provider says of each resource, an
// operation says it once.
func TestUnreachableCluster(t *testing.T) {
	t.Parallel()
	const refused = `unable to load schema information from the API server: Get "https://127.0.0.1:6443/openapi/v2": dial tcp 127.0.0.1:6443: connect: connection refused`
	for _, test := range []struct {
		name        string
		diagnostics []apitype.EngineEvent
		want        string
	}{
		{"deleting", []apitype.EngineEvent{
			diagnostic("warning", "configured Kubernetes cluster is unreachable: "+refused, secretURN),
			diagnostic("error", "error: configured Kubernetes cluster is unreachable"+dropAdvice, secretURN),
		}, ": " + refused},
		{"reading", []apitype.EngineEvent{
			diagnostic("warning", "configured Kubernetes cluster is unreachable: "+refused, secretURN),
			diagnostic("error", "failed to read resource state due to unreachable cluster"+dropAdvice, secretURN),
		}, ": " + refused},
		{"creating", []apitype.EngineEvent{diagnostic("error", "configured Kubernetes cluster is unreachable: "+refused, secretURN)}, ": " + refused + " (connection)"},
		{"a Helm release", []apitype.EngineEvent{
			diagnostic("error", "can't delete Helm Release with unreachable cluster. Reason: \"unable to parse \\\"x\\\"\\n\"", secretURN),
		}, `: unable to parse "x"`},
		{"updating a Helm release", []apitype.EngineEvent{diagnostic("error", "can't update Helm Release with unreachable cluster: no route", secretURN)}, ": no route"},
		{"a kubeconfig", []apitype.EngineEvent{diagnostic("error", "configured Kubernetes cluster is unreachable: unable to load Kubernetes client configuration from kubeconfig file. "+
			"Make sure you have: \n\n \t • set up the provider as per https://www.pulumi.com/x/ \n\n invalid configuration: no server", secretURN)},
			": unable to load Kubernetes client configuration from kubeconfig file: invalid configuration: no server"},
		{"without a reason", []apitype.EngineEvent{diagnostic("error", "failed to read resource state due to unreachable cluster"+dropAdvice, secretURN)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := open(t, []string{"vpc"}, call{args: "destroy", err: failed(), events: test.diagnostics})
			var got record
			_, err := e.Operate(t.Context(), Task{Operation: operation.Destroy, Step: step("vpc")}, got.emit)
			var advised interface{ NextStep() string }
			if !errors.As(err, &advised) || !strings.Contains(advised.NextStep(), "--force-forget") {
				t.Errorf("no advice to forget: %v", err)
			}
			if diff := cmp.Diff("the Kubernetes cluster is unreachable"+test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			if len(got.lines) > 0 {
				t.Errorf("resources said it, too: %q", got.lines)
			}
		})
	}
}

// TestUnreachableClusterThatDoesNotMatter expects an operation that succeeds to
// report the unreachable cluster.
func TestUnreachableClusterThatDoesNotMatter(t *testing.T) {
	t.Parallel()
	e := open(t, []string{"vpc"}, call{args: "up", events: []apitype.EngineEvent{
		diagnostic("warning", "configured Kubernetes cluster is unreachable: no route", secretURN), summed(nil),
	}})
	var got record
	_, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, got.emit)
	if diff := cmp.Diff([]string{"run.warning the Kubernetes cluster is unreachable: no route"}, got.lines); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
