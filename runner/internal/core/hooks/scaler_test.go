package hooks

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
)

// TestScalerGoesFirst: an application that has an autoscaler in its state and none in its program loses it before the program
// sets the number of Pods. A preview changes nothing.
func TestScalerGoesFirst(t *testing.T) {
	t.Parallel()
	const scaled = `[{"type": "kubernetes:autoscaling/v2:HorizontalPodAutoscaler", "urn": "urn:pulumi:dev::shop::t::scaler", "id": "bank-of-anthos/bank-of-anthos"}]`
	for name, test := range map[string]struct {
		op     operation.Operation
		state  string
		access []model.Access
		want   []string
	}{
		"taken away": {op: operation.Up, state: scaled,
			want: []string{"DELETE /apis/autoscaling/v2/namespaces/bank-of-anthos/horizontalpodautoscalers/bank-of-anthos"}},
		"kept":           {op: operation.Up, state: scaled, access: model.AccessTo("bank-of-anthos", "horizontalpodautoscalers.autoscaling")},
		"there was none": {op: operation.Up, state: "[]"},
		"a preview":      {op: operation.Preview, state: scaled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []string
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				changes = append(changes, r.Method+" "+r.URL.Path)
				fmt.Fprint(w, `{"apiVersion": "v1", "kind": "Status", "status": "Success"}`)
			}))
			t.Cleanup(server.Close)
			authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			h := sessionWith(t, answers{state: test.state, outputs: map[string]any{"kubeconfig": strings.Replace(clusterConfig,
				`{server: "https://10.0.0.1:6443"}`, `{server: "`+server.URL+`", certificate-authority-data: `+base64.StdEncoding.EncodeToString(authority)+`}`, 1)}})
			step := plan.Step{Project: model.Project{Name: "bank-of-anthos", Namespace: "bank-of-anthos", Own: &model.Own{Generated: true, Access: test.access}}}
			if err := h.Before(test.op, false)(t.Context(), step, func(event.Event) {}); err != nil || !slices.Equal(changes, test.want) {
				t.Errorf("changes %q, error %v", changes, err)
			}
		})
	}
}
