package examine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"

	"mara/runner/internal/kube/kubeapi"
)

// TestApplication: how the Pods of an application are, the oldest first; a Pod of others in the namespace is none of them.
func TestApplication(t *testing.T) {
	t.Parallel()
	var objects []runtime.Object
	for _, text := range []string{
		`{apiVersion: v1, kind: Pod, metadata: {name: shop-b, namespace: shop, labels: {mara.dev/project: shop}, creationTimestamp: "2026-11-02T00:00:00Z"}, status: {phase: Running,
			containerStatuses: [{name: shop, image: "ghcr.io/a/shop:2", imageID: "ghcr.io/a/shop@sha256:22", restartCount: 7, state: {waiting: {reason: CrashLoopBackOff, message: back-off}}}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: shop-a, namespace: shop, labels: {mara.dev/project: shop}, creationTimestamp: "2026-11-01T00:00:00Z"}, status: {phase: Running,
			conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: shop, ready: true, image: "ghcr.io/a/shop:1", imageID: "ghcr.io/a/shop@sha256:11"}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: before-1, namespace: shop, labels: {mara.dev/project: shop}, creationTimestamp: "2026-10-01T00:00:00Z"}, status: {phase: Succeeded}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: other, namespace: shop}}`,
		`{apiVersion: v1, kind: Event, metadata: {name: e, namespace: shop}, type: Warning, reason: BackOff, message: restarting, involvedObject: {kind: Pod, name: shop-b}}`,
	} {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	core := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: resource}
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{core("pods"): "PodList", core("events"): "EventList"}, objects...)
	pods, err := Application(t.Context(), kubeapi.New(client, nil), "shop")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pod := range pods {
		got = append(got, pod.String())
	}
	want := []string{
		"before-1: finished",
		"shop-a: ready, ghcr.io/a/shop:1@sha256:11",
		"shop-b: not ready, ghcr.io/a/shop:2@sha256:22, restarted 7 times: container shop: CrashLoopBackOff: back-off; last event: BackOff: restarting",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
