// Package clustertest is the API server of a cluster that is there already, as the runner surveys it, for tests. It
// fails the test where it is asked for a change.
package clustertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// World is a cluster as its API server shows it.
type World struct {
	Version string
	Groups  []string
	Objects map[string][]string // JSON of objects by the path of their list
	Hidden  []string            // paths that may not be listed
	Denied  func(verb, group, resource, namespace string) bool
	mu      sync.Mutex
	asked   []string // access reviews
}

// Serve serves the cluster until the test ends, and returns the path of a kubeconfig. Its context "mine" has a user
// whom the cluster knows, and "other", the current context, one whom it does not know.
func (w *World) Serve(t *testing.T) (kubeconfig string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer hidden-token" {
			rw.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(rw, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`)
			return
		}
		code, answer := w.answer(t, r)
		rw.WriteHeader(code)
		_ = json.NewEncoder(rw).Encode(answer) // the client fails where it does not arrive
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "config")
	content := fmt.Sprintf(`{"current-context":"other",`+
		`"clusters":[{"name":"c","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],`+
		`"users":[{"name":"u","user":{"token":"hidden-token"}},{"name":"x","user":{"token":"old"}}],`+
		`"contexts":[{"name":"mine","context":{"cluster":"c","user":"u"}},`+
		`{"name":"other","context":{"cluster":"c","user":"x"}}]}`, server.URL)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

type values = map[string]any

// answer answers one request.
func (w *World) answer(t *testing.T, r *http.Request) (int, any) {
	failure := func(code int, reason string) (int, any) {
		return code, values{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
	}
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/selfsubjectreviews"):
		return http.StatusCreated, values{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
			"status": values{"userInfo": values{"username": "ann"}}}
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		var review struct {
			Spec struct{ ResourceAttributes map[string]string }
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		a := review.Spec.ResourceAttributes
		w.mu.Lock()
		w.asked = append(w.asked, strings.TrimSpace(a["verb"]+" "+a["resource"]+"."+a["group"]+" "+a["namespace"]))
		w.mu.Unlock()
		isAllowed := w.Denied == nil || a["verb"] != "*" && !w.Denied(a["verb"], a["group"], a["resource"], a["namespace"])
		return http.StatusCreated, values{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
			"status": values{"allowed": isAllowed}}
	case r.Method != http.MethodGet:
		t.Errorf("unexpected %s %s", r.Method, r.URL)
		return failure(http.StatusMethodNotAllowed, "MethodNotAllowed")
	case r.URL.Path == "/version":
		return http.StatusOK, values{"gitVersion": w.Version}
	case r.URL.Path == "/api":
		return http.StatusOK, values{"kind": "APIVersions", "versions": []string{"v1"}}
	case r.URL.Path == "/apis":
		groups := []any{}
		for _, group := range w.Groups {
			version := values{"groupVersion": group + "/v1", "version": "v1"}
			groups = append(groups, values{"name": group, "versions": []any{version}, "preferredVersion": version})
		}
		return http.StatusOK, values{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
	case slices.Contains(w.Hidden, r.URL.Path):
		return failure(http.StatusForbidden, "Forbidden")
	}
	if texts, ok := w.Objects[r.URL.Path]; ok {
		return http.StatusOK, values{"apiVersion": "v1", "kind": "ObjectList", "metadata": values{},
			"items": objects(t, texts)}
	}
	list, name := path.Split(r.URL.Path)
	for _, object := range objects(t, w.Objects[path.Clean(list)]) {
		if metadata, _ := object["metadata"].(values); metadata["name"] == name {
			return http.StatusOK, object
		}
	}
	return failure(http.StatusNotFound, "NotFound")
}

// objects reads objects.
func objects(t *testing.T, texts []string) []values {
	read := []values{}
	for _, text := range texts {
		object := values{"apiVersion": "v1", "kind": "Object"}
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Error(err)
		}
		read = append(read, object)
	}
	return read
}

// Asked returns the access reviews so far: verb, resource and namespace of each.
func (w *World) Asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// Worker returns a node for Pods, in JSON; labels is the inside of a JSON object.
func Worker(name, provider, labels string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{%s}},"spec":{"providerID":%q},`+
		`"status":{"allocatable":{"cpu":"4","memory":"16Gi"},"nodeInfo":{"architecture":"amd64"},`+
		`"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}}`,
		name, labels, provider)
}
