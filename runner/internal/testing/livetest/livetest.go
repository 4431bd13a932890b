// Package livetest is an API server with a few objects, for tests.
package livetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Resource is what the server has of one kind.
type Resource struct {
	GroupVersion, Name, Kind string
	Objects                  []string // in JSON
	Changes                  <-chan Change
	Current                  func() []string // the objects now; nil for Objects
	Unwatchable              bool
}

// Change is what a watch tells.
type Change struct {
	Type   string // ADDED, MODIFIED or DELETED; END ends the watch
	Object string // in JSON
}

// Serve serves resources until the test ends, and returns a kubeconfig. It fails
// the test where it is asked for something that it does not have.
func Serve(t *testing.T, resources ...Resource) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") != "" {
			stream(w, r, resources)
			return
		}
		answer, ok := answer(resources, r)
		if !ok {
			t.Errorf("unexpected %s %s", r.Method, r.URL)
			w.WriteHeader(http.StatusNotFound)
		}
		_ = json.NewEncoder(w).Encode(answer) // the client fails where it does not arrive
	}))
	t.Cleanup(server.Close)
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":%q}}],`+
		`"users":[{"name":"u","user":{"token":"hidden-token"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`, server.URL)
}

// stream sends the changes of a resource until the client disconnects.
func stream(w http.ResponseWriter, r *http.Request, resources []Resource) {
	for _, resource := range resources {
		if !strings.HasSuffix(r.URL.Path, "/"+resource.Name) {
			continue
		}
		if resource.Unwatchable {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.(http.Flusher).Flush()
		for {
			select {
			case <-r.Context().Done():
				return
			case change := <-resource.Changes:
				if change.Type == "END" {
					return
				}
				var object map[string]any
				if err := json.Unmarshal([]byte(change.Object), &object); err != nil {
					panic(err)
				}
				object["apiVersion"], object["kind"] = resource.GroupVersion, resource.Kind
				// the client fails where it does not arrive
				_ = json.NewEncoder(w).Encode(map[string]any{"type": change.Type, "object": object})
				w.(http.Flusher).Flush()
			}
		}
	}
}

// pageSize is how many objects are on a page.
const pageSize = 2

func answer(resources []Resource, r *http.Request) (any, bool) {
	path := strings.Trim(r.URL.Path, "/")
	if r.Method != http.MethodGet {
		return nil, false
	}
	switch path {
	case "api":
		return map[string]any{"kind": "APIVersions", "versions": []string{"v1"}}, true
	case "apis":
		return groups(resources), true
	}
	for _, resource := range resources {
		base := "apis/" + resource.GroupVersion
		if !strings.Contains(resource.GroupVersion, "/") {
			base = "api/" + resource.GroupVersion
		}
		switch path {
		case base:
			return list(resources, resource.GroupVersion), true
		case base + "/" + resource.Name:
			return resource.page(r), true
		}
		if within, ok := strings.CutPrefix(path, base+"/namespaces/"); ok && strings.HasSuffix(within, "/"+resource.Name) {
			return resource.page(r), true // a test has objects of one namespace
		}
	}
	return nil, false
}

func groups(resources []Resource) any {
	var groups []any
	for _, resource := range resources {
		group, version, ok := strings.Cut(resource.GroupVersion, "/")
		if !ok {
			continue
		}
		entry := map[string]any{"groupVersion": resource.GroupVersion, "version": version}
		groups = append(groups, map[string]any{"name": group, "versions": []any{entry}, "preferredVersion": entry})
	}
	return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
}

func list(resources []Resource, groupVersion string) any {
	var all []any
	for _, resource := range resources {
		if resource.GroupVersion == groupVersion {
			all = append(all,
				map[string]any{"name": resource.Name, "kind": resource.Kind, "namespaced": true,
					"verbs": []string{"get", "list"}},
				map[string]any{"name": resource.Name + "/status", "kind": resource.Kind, "namespaced": true,
					"verbs": []string{"get"}})
		}
	}
	return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion, "resources": all}
}

// page returns one page of the objects. A client that asks for metadata alone gets
// no more.
func (resource Resource) page(r *http.Request) any {
	if resource.Current != nil {
		resource.Objects = resource.Current()
	}
	metadataOnly := strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList")
	start := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("continue"), &start) // without one, the first
	var items []any
	for _, text := range resource.Objects[start:min(start+pageSize, len(resource.Objects))] {
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			panic(err)
		}
		object["apiVersion"], object["kind"] = resource.GroupVersion, resource.Kind
		if metadataOnly {
			object = map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
				"metadata": object["metadata"]}
		}
		items = append(items, object)
	}
	metadata := map[string]any{"resourceVersion": "1"}
	if end := start + pageSize; end < len(resource.Objects) {
		metadata["continue"] = fmt.Sprint(end)
	}
	kind, version := resource.Kind+"List", resource.GroupVersion
	if metadataOnly {
		kind, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata, "items": items}
}
