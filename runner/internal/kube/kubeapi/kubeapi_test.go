package kubeapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fakediscovery "k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestOnlyDryRuns sends requests of each kind through a connection.
func TestOnlyDryRuns(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	client := http.Client{Transport: onlyDryRuns{next: http.DefaultTransport}}
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
	discovery := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{{
		GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
			{Name: "deployments/scale", Kind: "Deployment"}, {Name: "deployments", Kind: "Deployment", Namespaced: true},
		},
	}}}}
	cluster := New(nil, discovery)
	of := func(group, version, name string) (Resource, error) {
		return cluster.resource(t.Context(), schema.GroupVersionKind{Group: group, Version: version, Kind: name})
	}
	for range 2 {
		if found, err := of("apps", "v1", "Deployment"); err != nil || found.Resource != "deployments" || !found.Namespaced {
			t.Errorf("%+v, error %v", found, err)
		}
		if _, err := of("apps", "v1", "Other"); !errors.Is(err, ErrNoKind) {
			t.Errorf("error %v", err)
		}
		if _, err := of("gone", "v1", "Other"); !errors.Is(err, ErrNoKind) {
			t.Errorf("error %v", err)
		}
	}
	if asked := len(discovery.Actions()); asked != 2 {
		t.Errorf("%d questions", asked)
	}
	discovery.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no answer") })
	if _, err := of("", "v1", "Pod"); err == nil || errors.Is(err, ErrNoKind) {
		t.Errorf("error %v", err)
	}
}

// TestMetrics reads the metrics of an API server, and says what it answers where it does not tell them.
func TestMetrics(t *testing.T) {
	t.Parallel()
	forbidden := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/metrics" || forbidden:
			http.Error(w, "forbidden", http.StatusForbidden)
		default:
			_, _ = w.Write([]byte("up 1\n"))
		}
	}))
	t.Cleanup(server.Close)
	config := "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n" +
		"users: [{name: u, user: {}}]\nclusters: [{name: c, cluster: {server: '" + server.URL + "'}}]\n"
	cluster, err := Connect([]byte(config), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cluster.Metrics(t.Context()); err != nil || string(got) != "up 1\n" {
		t.Errorf("%q, %v", got, err)
	}
	forbidden = true
	if _, err := cluster.Metrics(t.Context()); err == nil || !strings.Contains(err.Error(), "reading the metrics of the API server: ") {
		t.Errorf("forbidden: %v", err)
	}
}

// TestChanges lets through only the changes that are named: an object of a resource is created, or one is deleted.
func TestChanges(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	client := http.Client{Transport: onlyDryRuns{http.DefaultTransport, []string{"create backups.velero.io", "delete restores.velero.io"}}}
	for request, sent := range map[string]bool{
		"POST /apis/velero.io/v1/namespaces/velero/backups": true, "POST /apis/velero.io/v1/namespaces/velero/restores": false,
		"DELETE /apis/velero.io/v1/namespaces/velero/backups": false, "POST /apis/other.io/v1/namespaces/velero/backups": false,
		"PUT /apis/velero.io/v1/namespaces/velero/backups/a": false, "POST /api/v1/namespaces/velero/pods": false,
		"DELETE /apis/velero.io/v1/namespaces/velero/restores/a": true, "DELETE /apis/velero.io/v1/namespaces/velero/restores": false,
		"DELETE /apis/velero.io/v1/namespaces/velero/backups/a": false, "DELETE /api/v1/namespaces/restores": false,
	} {
		method, path, _ := strings.Cut(request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err == nil {
			_ = response.Body.Close()
		}
		if (err == nil) != sent {
			t.Errorf("%s: %v, want it sent: %v", request, err, sent)
		}
	}
}
