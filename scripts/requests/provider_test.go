package requests

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// deviations are what Pulumi's provider sends although the description does not have it. Each is nothing, in other words: no
// list is meant, or no logs.
var deviations = map[string]func(body map[string]any) bool{
	"no audit logs, which are newer than the description": func(body map[string]any) bool {
		controlPlane, _ := body["control_plane"].(map[string]any)
		return without(controlPlane, "audit_logs_enabled", false)
	},
	"no taints, where the description wants one at least": func(body map[string]any) (found bool) {
		pools, _ := body["node_pools"].([]any)
		for _, pool := range append(pools, body) {
			found = without(pool.(map[string]any), "taints", []any{}) || found
		}
		return found
	},
	"no tags of a pool that changes, which the description does not have": func(body map[string]any) bool {
		_, isPool := body["count"]
		return isPool && without(body, "tags", []any{})
	},
}

// without removes a value, and reports whether it was there.
func without(body map[string]any, name string, value any) bool {
	if found, ok := body[name]; !ok || !reflect.DeepEqual(found, value) {
		return false
	}
	delete(body, name)
	return true
}

// TestLinodeProvider: what Pulumi's own provider has sent to an emulated cloud, in a run of make e2e-cloud that was
// recorded, is valid by the description, but for some deviations.
func TestLinodeProvider(t *testing.T) {
	t.Parallel()
	d := read(t, "testdata/linode-v4.189.0.json.gz")
	files, err := filepath.Glob("testdata/provider-linode-*.json")
	if err != nil || len(files) != 1 {
		t.Fatalf("files: %v (%v)", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var sent []struct {
		Method, Path string
		Body         map[string]any
	}
	if err := json.Unmarshal(content, &sent); err != nil {
		t.Fatal(err)
	}
	methods, found := map[string]int{}, map[string]bool{}
	for _, s := range sent {
		for name, remove := range deviations {
			found[name] = remove(s.Body) || found[name]
		}
		body, err := json.Marshal(s.Body)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), s.Method, s.Path, bytes.NewReader(body))
		if err := d.invalid(r); err != nil {
			t.Errorf("%s %s %s: %v", s.Method, s.Path, body, err)
		}
		methods[s.Method]++
	}
	for name := range deviations {
		if !found[name] {
			t.Errorf("the provider does not deviate any more: %s", name)
		}
	}
	if methods[http.MethodPost] == 0 || methods[http.MethodPut] == 0 {
		t.Errorf("recorded are %v", methods)
	}
}
