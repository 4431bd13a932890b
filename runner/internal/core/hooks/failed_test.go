package hooks

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/stacks"
)

// TestFailedTellsWhy: a step that has waited in vain tells for what, as far as
// the cluster says it.
func TestFailedTellsWhy(t *testing.T) {
	t.Parallel()
	late := fmt.Errorf("prometheus: %w", &stacks.NotReadyError{Cause: errors.New("timed out")})
	stuck := fmt.Errorf("prometheus: %w", &stacks.StuckError{Cause: errors.New("timed out"), Namespaces: []string{"prometheus"}})
	for _, test := range []struct {
		name, namespace string
		failure         error
		status          int
		simulated       bool
		expired         bool
		want            []string
	}{
		{name: "late", namespace: "prometheus", failure: late, status: http.StatusOK, want: []string{
			"step.log error Pod prometheus/server-0 is not ready: container server: ImagePullBackOff: no pull with [secret]",
		}},
		{name: "stuck", failure: stuck, status: http.StatusOK, want: []string{
			"step.log error Namespace prometheus is still there: SomeFinalizersRemain: of [secret]",
		}},
		{name: "another failure", namespace: "prometheus", failure: errors.New("no such chart")},
		{name: "no namespace", failure: late},
		{name: "simulated", namespace: "prometheus", failure: late, simulated: true},
		{name: "forbidden", namespace: "prometheus", failure: late, status: http.StatusForbidden},
		{name: "beyond the step's own limit", failure: stuck, status: http.StatusOK, expired: true, want: []string{
			"step.log error Namespace prometheus is still there: SomeFinalizersRemain: of [secret]",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if test.status == 0 {
					t.Errorf("the cluster is asked for %s", r.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
				if strings.HasSuffix(r.URL.Path, "/pods") {
					fmt.Fprintf(w, `{"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "server-0"}, "status": {"containerStatuses": [
						{"name": "server", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no pull with %s"}}}]}}]}`, clusterToken)
					return
				}
				if strings.HasSuffix(r.URL.Path, "/namespaces") {
					fmt.Fprintf(w, `{"apiVersion": "v1", "kind": "NamespaceList", "items": [{"metadata": {"name": "prometheus", "deletionTimestamp": "2026-11-27T10:00:00Z"},
						"status": {"conditions": [{"type": "NamespaceFinalizersRemaining", "status": "True", "reason": "SomeFinalizersRemain", "message": "of %s"}]}}]}`, clusterToken)
					return
				}
				fmt.Fprint(w, `{"apiVersion": "v1", "kind": "EventList", "items": []}`)
			}))
			t.Cleanup(server.Close)
			authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			h := hookSession(t, map[string]any{"kubeconfig": strings.Replace(clusterConfig, `{server: "https://10.0.0.1:6443"}`,
				`{server: "`+server.URL+`", certificate-authority-data: `+base64.StdEncoding.EncodeToString(authority)+`}`, 1)})
			h.Simulated = test.simulated
			var got []string
			step := plan.Step{Project: model.Project{Name: "prometheus", Namespace: test.namespace}}
			ctx := t.Context()
			if test.expired {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 0)
				defer cancel()
			}
			h.Failed(ctx, step, test.failure, func(e event.Event) {
				e = h.Masker.Event(e)
				got = append(got, fmt.Sprint(e.Type, " ", e.Severity, " ", e.Message))
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
