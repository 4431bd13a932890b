package kubeapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/runner/internal/kube/kubeconfig"
)

// TestOnlyDryRuns sends requests of each kind through a connection.
func TestOnlyDryRuns(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	client := http.Client{Transport: onlyDryRuns{http.DefaultTransport}}
	for _, test := range []struct {
		method, query string
		sent          bool
	}{
		{http.MethodGet, "", true},
		{http.MethodPatch, "?dryRun=All&force=true", true},
		{http.MethodPatch, "?force=true", false},
		{http.MethodPost, "?dryRun=", false},
		{http.MethodDelete, "?dryRun=All&dryRun=None", false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL+"/api"+test.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		if (err == nil) != test.sent {
			t.Errorf("%s %s: error %v", test.method, test.query, err)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	asked := 0
	cluster := New(nil, func(_ context.Context, path string, into any) error {
		asked++
		switch path {
		case "apis/apps/v1":
			return json.Unmarshal([]byte(`{"resources": [{"name": "deployments/scale", "kind": "Deployment"}, {"name": "deployments", "kind": "Deployment", "namespaced": true}]}`), into)
		case "api/v1":
			return errors.New("no answer")
		}
		return kubeconfig.ErrNotFound
	})
	of := func(group, version, name string) (kind, error) {
		return cluster.kinds.of(t.Context(), schema.GroupVersionKind{Group: group, Version: version, Kind: name})
	}
	for range 2 {
		if found, err := of("apps", "v1", "Deployment"); err != nil || found.resource.Resource != "deployments" || !found.namespaced {
			t.Errorf("%+v, error %v", found, err)
		}
		if _, err := of("apps", "v1", "Other"); !errors.Is(err, ErrNoKind) {
			t.Errorf("error %v", err)
		}
		if _, err := of("gone", "v1", "Other"); !errors.Is(err, ErrNoKind) {
			t.Errorf("error %v", err)
		}
	}
	if asked != 2 {
		t.Errorf("%d questions", asked)
	}
	if _, err := of("", "v1", "Pod"); err == nil || errors.Is(err, ErrNoKind) {
		t.Errorf("error %v", err)
	}
}
