package examine

import (
	"encoding/base64"
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/manifest"
	"mara/runner/internal/testing/helmdrifttest"
)

// record returns the Secret in which Helm keeps a revision.
func record(t *testing.T, revision, status, text string) *unstructured.Unstructured {
	t.Helper()
	encoded := base64.StdEncoding.EncodeToString([]byte(helmdrifttest.Record(t, "web", text)))
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"release": encoded},
		"metadata": map[string]any{"namespace": "shop", "name": "sh.helm.release.v1.web.v" + revision, "labels": map[string]any{
			"owner": "helm", "name": "web", "version": revision, "status": status,
		}},
	}}
}

// discovery answers what kinds there are.
func discovery() *fakediscovery.FakeDiscovery {
	return &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "secrets", Kind: "Secret", Namespaced: true}, {Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}},
		{GroupVersion: "batch/v1", APIResources: []metav1.APIResource{{Name: "jobs/status", Kind: "Job", Namespaced: true}, {Name: "jobs", Kind: "Job", Namespaced: true}}},
		{GroupVersion: "rbac.authorization.k8s.io/v1", APIResources: []metav1.APIResource{{Name: "clusterroles", Kind: "ClusterRole"}}},
	}}}
}

// server returns a fake API server with a few kinds. A dry run of an object calls
// its entry in answers, by name; without one it would change nothing.
func server(t *testing.T, live []runtime.Object, answers map[string]func(*unstructured.Unstructured) error) (*kubeapi.Cluster, *fake.FakeDynamicClient) {
	t.Helper()
	client := fake.NewSimpleDynamicClient(runtime.NewScheme(), live...)
	tracker := client.Tracker()
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch action.GetVerb() {
		case "get", "list":
			return false, nil, nil
		case "patch":
			return true, nil, errors.New("unexpected patch")
		}
		t.Errorf("unexpected %s of %s", action.GetVerb(), action.GetResource().Resource)
		return true, nil, errors.New("unexpected")
	})
	client.PrependReactor("patch", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch := action.(clienttesting.PatchActionImpl)
		options := patch.PatchOptions
		if patch.PatchType != types.ApplyPatchType || len(options.DryRun) != 1 || options.DryRun[0] != metav1.DryRunAll || options.Force == nil || !*options.Force {
			t.Errorf("%s is changed: %s %+v", patch.Name, patch.PatchType, options)
		}
		found, err := tracker.Get(patch.GetResource(), patch.GetNamespace(), patch.Name)
		if err != nil {
			t.Errorf("a dry run of what is not there: %v", err)
			return true, nil, err
		}
		applied := found.(*unstructured.Unstructured).DeepCopy()
		applied.SetResourceVersion("another")
		applied.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: fieldManager}})
		if answer := answers[patch.Name]; answer != nil {
			err = answer(applied)
		}
		return true, applied, err
	})
	return kubeapi.New(client, discovery()), client
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	objects, err := manifest.Objects(text)
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects, error %v", len(objects), err)
	}
	return &unstructured.Unstructured{Object: objects[0]}
}

func set(value string, path ...string) func(*unstructured.Unstructured) error {
	return func(o *unstructured.Unstructured) error { return unstructured.SetNestedField(o.Object, value, path...) }
}

func TestRelease(t *testing.T) {
	t.Parallel()
	const (
		settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: one, b: two}}"
		inShop   = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, resourceVersion: x}, data: {a: one, b: two}}"
		role     = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: web}}"
		job      = "{apiVersion: batch/v1, kind: Job, metadata: {name: once}, spec: {ttlSecondsAfterFinished: 5}}"
	)
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "settings", nil)
	invalid.ErrStatus.Details.Causes = []metav1.StatusCause{{Field: "spec.selector"}}
	tests := []struct {
		name    string
		text    string // of the release
		live    []string
		answers map[string]func(*unstructured.Unstructured) error
		want    []Difference
		fails   string
	}{
		{"as installed", settings, []string{inShop}, nil, nil, ""},
		{"nothing installed", "", nil, nil, nil, ""},
		{
			"a field", settings, []string{inShop}, map[string]func(*unstructured.Unstructured) error{"settings": set("zwei", "data", "b")},
			[]Difference{{Kind: "ConfigMap", Name: "shop/settings", Fields: []string{"data.b"}}}, "",
		},
		{
			"a field that the server keeps", settings, []string{inShop},
			map[string]func(*unstructured.Unstructured) error{"settings": set("x", "status", "phase")}, nil, "",
		},
		{"gone", settings + "\n---\n" + role, []string{inShop}, nil, []Difference{{Kind: "ClusterRole", Name: "web", Missing: true}}, ""},
		{"gone with its definition", "{apiVersion: shop/v1, kind: Shop, metadata: {name: x, namespace: shop}}", nil, nil, []Difference{{Kind: "Shop", Name: "shop/x", Missing: true}}, ""},
		{"a job that was done", job, nil, nil, nil, ""},
		{
			"a field that cannot be changed back", settings, []string{inShop},
			map[string]func(*unstructured.Unstructured) error{"settings": func(*unstructured.Unstructured) error { return invalid }},
			[]Difference{{Kind: "ConfigMap", Name: "shop/settings", Fields: []string{"spec.selector"}}}, "",
		},
		{
			"not allowed", settings, []string{inShop},
			map[string]func(*unstructured.Unstructured) error{"settings": func(*unstructured.Unstructured) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New("no\nmore"))
			}},
			[]Difference{{Kind: "ConfigMap", Name: "shop/settings", Unknown: `configmaps "settings" is forbidden: no`}}, "",
		},
		{
			"no answer", settings, []string{inShop},
			map[string]func(*unstructured.Unstructured) error{"settings": func(*unstructured.Unstructured) error { return errors.New("connection refused") }},
			nil, "release shop/web: ConfigMap shop/settings: connection refused",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			live := []runtime.Object{record(t, "2", "superseded", "not YAML: ["), record(t, "10", "deployed", test.text), record(t, "9", "deployed", "[")}
			for _, text := range test.live {
				live = append(live, object(t, text))
			}
			cluster, _ := server(t, live, test.answers)
			got, err := Release(t.Context(), cluster, "shop", "web")
			if test.fails != "" {
				if err == nil || err.Error() != test.fails {
					t.Errorf("error %v, want %s", err, test.fails)
				}
				return
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("differences (-want +got):\n%s\nerror %v", diff, err)
			}
		})
	}
}

// A controller that changes an object between the look and the dry run changes
// what the dry run answers. That is no difference to the release.
func TestControllerAtWork(t *testing.T) {
	t.Parallel()
	const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop, resourceVersion: '1'}, data: {a: one}}"
	for _, test := range []struct {
		changes int // how often the controller does so
		want    []Difference
	}{
		{1, []Difference{{Kind: "ConfigMap", Name: "shop/settings", Fields: []string{"data.a"}}}},
		{attempts, []Difference{{Kind: "ConfigMap", Name: "shop/settings", Fields: []string{"data.a", "metadata.annotations.revision"}}}},
	} {
		var client *fake.FakeDynamicClient
		changes := 0
		answer := func(applied *unstructured.Unstructured) error {
			if changes < test.changes {
				changes++
				applied.SetAnnotations(map[string]string{"revision": strconv.Itoa(changes)})
				applied.SetResourceVersion(strconv.Itoa(1 + changes))
				if err := client.Tracker().Update(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, applied.DeepCopy(), "shop"); err != nil {
					t.Error(err)
				}
			}
			return set("zwei", "data", "a")(applied)
		}
		var cluster *kubeapi.Cluster
		cluster, client = server(t, []runtime.Object{record(t, "1", "deployed", settings), object(t, settings)},
			map[string]func(*unstructured.Unstructured) error{"settings": answer})
		got, err := Release(t.Context(), cluster, "shop", "web")
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("after %d changes (-want +got):\n%s\nerror %v", test.changes, diff, err)
		}
	}
}

func TestNoSuchRelease(t *testing.T) {
	t.Parallel()
	kinds := map[schema.GroupVersionResource]string{{Version: "v1", Resource: "secrets"}: "SecretList"}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)
	got, err := Release(t.Context(), kubeapi.New(client, nil), "shop", "web")
	if err != nil || len(got) > 0 {
		t.Errorf("differences %v, error %v", got, err)
	}
}

func TestUnreadableRecord(t *testing.T) {
	t.Parallel()
	broken := record(t, "1", "deployed", "")
	if err := unstructured.SetNestedField(broken.Object, "c2VjcmV0", "data", "release"); err != nil {
		t.Fatal(err)
	}
	cluster, _ := server(t, []runtime.Object{broken}, nil)
	_, err := Release(t.Context(), cluster, "shop", "web")
	if err == nil || err.Error() != "release shop/web: the record of Helm cannot be read" {
		t.Errorf("error %v", err)
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	live := map[string]any{
		"metadata": map[string]any{"uid": "1", "labels": map[string]any{"a": "1"}},
		"spec":     map[string]any{"list": []any{map[string]any{"x": int64(1)}, "y"}, "short": []any{"a"}, "gone": "x", "same": "z"},
	}
	applied := map[string]any{
		"metadata": map[string]any{"uid": "2", "labels": map[string]any{"a": "2"}},
		"spec":     map[string]any{"list": []any{map[string]any{"x": int64(2)}, "y"}, "short": []any{"a", "b"}, "new": "x", "same": "z"},
	}
	want := []string{"metadata.labels.a", "spec.gone", "spec.list[0].x", "spec.new", "spec.short"}
	if diff := cmp.Diff(want, changed(live, applied)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
