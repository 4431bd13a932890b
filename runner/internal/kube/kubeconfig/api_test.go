package kubeconfig

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestProbe: any answer will do, and the user of the kubeconfig is not asked for
// credentials.
func TestProbe(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.URL.Path != "/readyz" {
			t.Errorf("unexpected %s with %v", r.URL, r.Header)
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	reach := func(address string) error {
		config := strings.NewReplacer("https://127.0.0.1:6443", address, ", certificate-authority-data: Y2E=", "").Replace(cluster)
		return Probe(t.Context(), []byte(config), nil)
	}
	if err := reach(server.URL); err != nil {
		t.Errorf("a server that answers: %v", err)
	}
	server.Close()
	if err := reach(server.URL); err == nil {
		t.Error("a server that is gone answers")
	}
	if err := Probe(t.Context(), []byte("token: hidden"), nil); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("an unusable kubeconfig: %v", err)
	}
}
