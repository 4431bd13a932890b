package pkotest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/feature/operator"
)

// Serve serves the Stacks as an API server does until the test ends, and returns a
// kubeconfig. Whenever they are listed, a while passes. It fails the test where it is
// asked for something else.
func (o *Operator) Serve(t *testing.T, namespace string, while time.Duration) (kubeconfig string) {
	t.Helper()
	path := "/apis/pulumi.com/v1/namespaces/" + namespace + "/stacks"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, path), "/")
		body, _ := io.ReadAll(r.Body) // an empty one is refused below
		answer, status := o.answer(r, path, name, body)
		switch {
		case status == 0:
			t.Errorf("unexpected %s %s", r.Method, r.URL)
			status = http.StatusInternalServerError
		case name == "" && r.Method == http.MethodGet:
			o.Pass(while)
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer) // the client fails where it does not arrive
	}))
	t.Cleanup(server.Close)
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",`+
		`"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"hidden-token"}}],`+
		`"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`, server.URL)
}

// answer returns the response to a request; status 0 means an unexpected request.
func (o *Operator) answer(r *http.Request, path, name string, body []byte) (any, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, there := o.stacks[name]
	switch {
	case r.URL.Path == path && r.Method == http.MethodGet:
		return o.list(r.URL.Query().Get("labelSelector")), http.StatusOK
	case !strings.HasPrefix(r.URL.Path, path+"/"):
		return nil, 0
	case !there:
		return map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404},
			http.StatusNotFound
	case r.Method == http.MethodDelete:
		s.deleted, s.generation = true, s.generation+1
		return o.object(s), http.StatusOK
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == "application/merge-patch+json":
		var patch struct{ Spec map[string]any }
		if err := json.Unmarshal(body, &patch); err != nil {
			return nil, 0
		}
		merge(s.spec, patch.Spec)
		s.read, s.generation = as[operator.StackSpec](s.spec), s.generation+1
		return o.object(s), http.StatusOK
	}
	return nil, 0
}

// merge applies a JSON merge patch.
func merge(into, patch map[string]any) {
	for name, value := range patch {
		inside, isObject := value.(map[string]any)
		there, wasObject := into[name].(map[string]any)
		switch {
		case value == nil:
			delete(into, name)
		case isObject:
			if !wasObject {
				there = map[string]any{}
				into[name] = there
			}
			merge(there, inside)
		default:
			into[name] = value
		}
	}
}

func (o *Operator) list(selector string) any {
	items := []any{}
	for _, name := range slices.Sorted(maps.Keys(o.stacks)) {
		chosen := true
		for part := range strings.SplitSeq(selector, ",") {
			key, value, _ := strings.Cut(part, "=")
			chosen = chosen && o.stacks[name].labels[key] == value
		}
		if chosen {
			items = append(items, o.object(o.stacks[name]))
		}
	}
	return map[string]any{"apiVersion": "pulumi.com/v1", "kind": "StackList", "metadata": map[string]any{}, "items": items}
}

// object returns a Stack as the API serves it.
func (o *Operator) object(s *stack) any {
	metadata := map[string]any{"name": s.name, "labels": s.labels, "generation": s.generation}
	if s.request != "" {
		metadata["annotations"] = map[string]any{"pulumi.com/reconciliation-request": s.request}
	}
	if s.deleted {
		metadata["deletionTimestamp"] = o.now.Format(time.RFC3339)
	}
	status := map[string]any{"observedGeneration": s.observed, "observedReconcileRequest": s.seenRequest}
	if s.last != nil {
		state := "failed"
		if s.last.succeeded {
			state = "succeeded"
		}
		status["lastUpdate"] = map[string]any{
			"generation": s.last.generation, "name": s.last.name, "type": s.last.kind, "state": state,
			"failures":            s.last.failures,
			"lastAttemptedCommit": s.last.commit, "lastSuccessfulCommit": s.last.lastSuccess,
			"lastResyncTime": s.last.at.Format(time.RFC3339),
		}
	}
	if s.condition[0] != "" {
		status["conditions"] = []any{map[string]any{
			"type": s.condition[0], "status": "True", "reason": s.condition[1], "message": s.condition[2],
			"lastTransitionTime": o.now.Format(time.RFC3339),
		}}
	}
	return map[string]any{"apiVersion": "pulumi.com/v1", "kind": "Stack", "metadata": metadata, "spec": s.spec,
		"status": status}
}
