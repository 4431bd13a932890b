package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestTraces sends the spans of a run to a receiver, and does without one.
func TestTraces(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&got, request.Body)
	}))
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL)
	e.simulate(0, "up", "-p", "kind")
	server.Close()
	for _, want := range []string{"up kind/dev", "bank-of-anthos", "create kind:index:Cluster", "hook kubeconfig"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("there is no span %q", want)
		}
	}
	r := e.run("up", "--simulate", "--simulate-speed", "100000", "--yes")
	if r.code != 0 || !strings.Contains(r.stderr, "warning: sending traces: ") {
		t.Errorf("without a receiver: exit code %d, %s", r.code, r.stderr)
	}
}
