package volumes

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"mara/runner/internal/kube/kubeapi"
)

// world is a namespace db with objects of these manifests.
func world(t *testing.T, manifests ...string) (*kubeapi.Cluster, *fake.FakeDynamicClient) {
	t.Helper()
	var objects []runtime.Object
	for _, manifest := range manifests {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
			t.Fatal(err)
		}
		if object.GetKind() != "StorageClass" {
			object.SetNamespace("db")
		}
		objects = append(objects, object)
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		claimsOf: "PersistentVolumeClaimList", setsOf: "StatefulSetList", classesOf: "StorageClassList",
	}, objects...)
	return kubeapi.New(client, nil), client
}

func set(name, class, size, more string) string {
	return "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: " + name + ", uid: u-" + name + more + "}, spec: {volumeClaimTemplates: [" +
		"{metadata: {name: data}, spec: {storageClassName: '" + class + "', resources: {requests: {storage: " + size + "}}}}]}}"
}

func claim(name, class, size, annotations string) string {
	return "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " + name + ", annotations: {" + annotations + "}}, spec: {storageClassName: " +
		class + ", resources: {requests: {storage: " + size + "}}}}"
}

const (
	fast = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, allowVolumeExpansion: true}"
	slow = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: slow}}"
)

// TestFind: what has to grow, and what cannot.
func TestFind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		objects      []string
		size, class  string
		keep         bool
		want, refuse string
	}{
		"nothing is there":      {size: "10Gi"},
		"as it is":              {objects: []string{set("db", "fast", "10Gi", ""), claim("data-db-0", "fast", "10Gi", "")}, size: "10240Mi", class: "fast"},
		"bigger":                {objects: []string{set("db", "", "5Gi", ""), claim("data-db-0", "fast", "5Gi", ""), claim("data-db-1", "fast", "5Gi", ""), fast}, size: "10Gi", want: "the volume db/data-db-0 grows from 5Gi to 10Gi; the volume db/data-db-1 grows from 5Gi to 10Gi; the StatefulSet db/db is made anew, and its Pods keep running"},
		"after an interruption": {objects: []string{set("db", "", "5Gi", ""), claim("data-db-0", "fast", "10Gi", ""), fast}, size: "10Gi", want: "the StatefulSet db/db is made anew, and its Pods keep running"},
		"claims that were left behind": {objects: []string{set("db", "", "10Gi", ""), claim("data-db-0", "fast", "5Gi", ""), fast}, size: "10Gi",
			want: "the volume db/data-db-0 grows from 5Gi to 10Gi"},
		"a StatefulSet that its program does not make anew": {objects: []string{set("db", "", "5Gi", ""), claim("data-db-0", "fast", "5Gi", ""), fast}, size: "10Gi", keep: true,
			want: "the volume db/data-db-0 grows from 5Gi to 10Gi"},
		"claims that somebody has made bigger": {objects: []string{set("db", "", "10Gi", ""), claim("data-db-0", "fast", "20Gi", ""), fast}, size: "10Gi"},
		"of an operator":                       {objects: []string{set("db", "", "5Gi", ", ownerReferences: [{kind: Prometheus}]"), claim("data-db-0", "fast", "5Gi", ""), fast}, size: "10Gi", want: "the volume db/data-db-0 grows from 5Gi to 10Gi"},
		"of a chart":                           {objects: []string{claim("grafana", "fast", "5Gi", "meta.helm.sh/release-name: grafana"), fast}, size: "10Gi", want: "the volume db/grafana grows from 5Gi to 10Gi"},
		"of others":                            {objects: []string{set("db", "", "10Gi", ""), claim("data-db-x", "fast", "5Gi", ""), claim("mine", "fast", "5Gi", ""), fast}, size: "10Gi"},
		"a class that cannot":                  {objects: []string{set("db", "", "5Gi", ""), claim("data-db-0", "slow", "5Gi", ""), slow}, size: "10Gi", refuse: "its StorageClass slow does not allow it"},
		"smaller":                              {objects: []string{set("db", "", "20Gi", ""), claim("data-db-0", "fast", "20Gi", ""), fast}, size: "10Gi", refuse: "none can be made smaller"},
		"another class":                        {objects: []string{set("db", "slow", "10Gi", ""), claim("data-db-0", "slow", "10Gi", "")}, size: "10Gi", class: "fast", refuse: "StorageClass slow, which cannot be changed"},
		"a class that was the default": {objects: []string{set("db", "", "10Gi", ""), claim("data-db-0", "fast", "10Gi", "")}, size: "10Gi", class: "fast",
			want: "the StatefulSet db/db is made anew, and its Pods keep running"},
		"a class that is not the default": {objects: []string{set("db", "", "10Gi", ""), claim("data-db-0", "slow", "10Gi", "")}, size: "10Gi", class: "fast", refuse: "which cannot be changed"},
		"a class that is named no more": {objects: []string{set("db", "fast", "10Gi", ""), claim("data-db-0", "fast", "10Gi", "")}, size: "10Gi",
			want: "the StatefulSet db/db is made anew, and its Pods keep running"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := world(t, test.objects...)
			found, err := Find(t.Context(), c, Wanted{Namespace: "db", Size: test.size, Class: test.class, Keep: test.keep})
			if test.refuse != "" {
				refused, ok := errors.AsType[*RefusedError](err)
				if !ok || !strings.Contains(refused.Text, test.refuse) || refused.NextStep() == "" {
					t.Errorf("error %v, want one with %q", err, test.refuse)
				}
				return
			}
			if err != nil || found.String() != test.want || found.Needed() != (test.want != "") {
				t.Errorf("found %q, error %v, want %q", found, err, test.want)
			}
		})
	}
	c, _ := world(t, set("db", "", "5Gi", ""), claim("data-db-0", "gone", "5Gi", ""))
	if _, err := Find(t.Context(), c, Wanted{Namespace: "db", Size: "10Gi"}); err == nil || !strings.Contains(err.Error(), "StorageClass gone allows bigger volumes is not known") {
		t.Errorf("a class that cannot be read: %v", err)
	}
}

// TestGrow: claims are patched, and a StatefulSet is deleted without its Pods, and only the one that was looked at.
func TestGrow(t *testing.T) {
	t.Parallel()
	c, client := world(t, set("db", "", "5Gi", ""), claim("data-db-0", "fast", "5Gi", ""), fast)
	var options metav1.DeleteOptions
	client.PrependReactor("delete", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		options = action.(clienttesting.DeleteActionImpl).DeleteOptions
		return false, nil, nil
	})
	w := Wanted{Namespace: "db", Size: "10Gi"}
	found, err := Find(t.Context(), c, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := Grow(t.Context(), c, found); err != nil {
		t.Fatal(err)
	}
	if options.PropagationPolicy == nil || *options.PropagationPolicy != metav1.DeletePropagationOrphan || options.Preconditions == nil || *options.Preconditions.UID != "u-db" {
		t.Errorf("deleted with %+v", options)
	}
	if again, err := Find(t.Context(), c, w); err != nil || again.Needed() {
		t.Errorf("after it: %s, %v", again, err)
	}
	grown, err := c.Objects.Resource(claimsOf).Namespace("db").Get(t.Context(), "data-db-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if size := quantity(*grown, "spec", "resources", "requests", "storage"); size.String() != "10Gi" {
		t.Errorf("the claim has %s", size.String())
	}
}
