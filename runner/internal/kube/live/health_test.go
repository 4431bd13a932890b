package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/testing/livetest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	config := livetest.Serve(t, livetest.Resource{GroupVersion: "apps/v1", Name: "deployments", Kind: "Deployment", Objects: []string{
		`{"metadata":{"name":"web","namespace":"shop","generation":2},"spec":{"replicas":3},"status":{"observedGeneration":2,"replicas":3,"updatedReplicas":3,"readyReplicas":1,"availableReplicas":1}}`,
		`{"metadata":{"name":"db","namespace":"shop","generation":1},"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`,
	}}, livetest.Resource{GroupVersion: "v1", Name: "namespaces", Kind: "Namespace", Objects: []string{
		`{"metadata":{"name":"shop"},"status":{"phase":"Active"}}`,
	}})
	got, err := Check(t.Context(), Options{Kubeconfig: []byte(config)}, map[string][]Object{
		"shop":   {{"Deployment.apps", "shop", "web"}, {"Deployment.apps", "shop", "db"}, {"Namespace", "", "shop"}, {"Issuer.cert-manager.io", "shop", "x"}},
		"others": nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Health{
		"shop": {Ready: 2, Problems: []Problem{
			{Object: "Deployment shop/web", State: "InProgress", Message: "Available: 1/3"}, {Object: "Issuer shop/x", State: Gone},
		}},
		"others": {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text := got["shop"].Problems[0].String(); text != "Deployment shop/web is not ready: Available: 1/3" {
		t.Error(text)
	}
	if text := got["shop"].Problems[1].String(); text != "Issuer shop/x is gone" {
		t.Error(text)
	}
}
