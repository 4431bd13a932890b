package render_test

import (
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/feature/export/render"
	"mara/runner/internal/feature/mirror"
)

// rollout renders an application as its program declares it: Pulumi has named the file and the Job, whatever is in them.
func rollout(t *testing.T, image, file string) (files []string, objects map[string]render.Object) {
	t.Helper()
	pod := func() values {
		return values{"spec": values{
			"containers": []any{values{"name": "shop", "image": image}},
			"volumes":    []any{values{"name": "files", "configMap": values{"name": "files-5c199cd6"}}},
		}}
	}
	in := func(name string) values { return values{"name": name, "namespace": "shop"} }
	m, err := render.Build(t.Context(), render.Options{Order: []string{"shop"}, Cluster: mirror.Kubernetes{}}, []render.Resource{
		{Project: "shop", Token: "kubernetes:apps/v1:Deployment", Name: "workload", Inputs: values{"metadata": in("shop"), "spec": values{"replicas": 2, "template": pod()}}},
		{Project: "shop", Token: "kubernetes:autoscaling/v2:HorizontalPodAutoscaler", Name: "scaler", Inputs: values{"metadata": in("shop"), "spec": values{
			"scaleTargetRef": values{"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop"}}}},
		{Project: "shop", Token: "kubernetes:batch/v1:Job", Name: "before", Inputs: values{"metadata": in("before-06e1483c"), "spec": values{"template": pod()}}},
		{Project: "shop", Token: "kubernetes:core/v1:ConfigMap", Name: "files", Inputs: values{"metadata": in("files-5c199cd6"), "data": values{"file-0": file}}},
		{Project: "shop", Token: "kubernetes:core/v1:Namespace", Name: "namespace", Inputs: values{"metadata": values{"name": "shop"}}},
		{Project: "shop", Token: "kubernetes:core/v1:Secret", Name: "secrets", Inputs: values{"metadata": in("secrets-e066609a"), "stringData": values{"A": render.Secret}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	objects = map[string]render.Object{}
	for _, o := range m.Projects[0].Objects {
		files = append(files, o.File)
		objects[o.Kind] = o
	}
	return files, objects
}

// TestNamesFollowContent: a Job that changes is another one, and a changed file gets to the Pods, as `up` has it; what has not
// changed keeps its name.
func TestNamesFollowContent(t *testing.T) {
	t.Parallel()
	_, first := rollout(t, "shop:1", "max=10")
	_, again := rollout(t, "shop:1", "max=10")
	_, image := rollout(t, "shop:2", "max=10")
	_, file := rollout(t, "shop:1", "max=20")
	name := func(objects map[string]render.Object, kind string) string { return objects[kind].Name }
	if name(first, "Job") != name(again, "Job") || name(first, "ConfigMap") != name(again, "ConfigMap") {
		t.Errorf("the same content has other names: %s, %s", name(first, "Job"), name(again, "Job"))
	}
	if name(first, "Job") == name(image, "Job") || name(first, "ConfigMap") != name(image, "ConfigMap") {
		t.Errorf("another image: %s, %s", name(image, "Job"), name(image, "ConfigMap"))
	}
	if name(first, "ConfigMap") == name(file, "ConfigMap") || name(first, "Job") == name(file, "Job") {
		t.Errorf("another file: %s, %s", name(file, "ConfigMap"), name(file, "Job"))
	}
	for _, objects := range []map[string]render.Object{first, image, file} {
		for _, kind := range []string{"Job", "Deployment"} {
			spec := objects[kind].Content["spec"].(values)["template"].(values)["spec"].(values)
			if got := spec["volumes"].([]any)[0].(values)["configMap"].(values)["name"]; got != name(objects, "ConfigMap") {
				t.Errorf("the %s mounts %v, and the file is %s", kind, got, name(objects, "ConfigMap"))
			}
		}
		if !strings.HasPrefix(name(objects, "Job"), "before-") || !strings.HasPrefix(name(objects, "ConfigMap"), "files-") {
			t.Errorf("names %s, %s", name(objects, "Job"), name(objects, "ConfigMap"))
		}
	}
}

// TestJobsComeBeforeWorkloads: in the order of the files, and with Argo CD in an earlier wave. How many Pods there are is left
// to the autoscaler.
func TestJobsComeBeforeWorkloads(t *testing.T) {
	t.Parallel()
	files, objects := rollout(t, "shop:1", "max=10")
	at := func(part string) int {
		return slices.IndexFunc(files, func(file string) bool { return strings.Contains(file, part) })
	}
	if at("configmap") > at("job") || at("job") > at("deployment") {
		t.Errorf("order %v", files)
	}
	const wave = "argocd.argoproj.io/sync-wave"
	for kind, want := range map[string]string{"Namespace": "", "ConfigMap": "", "Job": "1", "Deployment": "2", "HorizontalPodAutoscaler": "2"} {
		if got := objects[kind].Content.Text("metadata", "annotations", wave); got != want {
			t.Errorf("%s is in the wave %q, want %q", kind, got, want)
		}
	}
	if spec := objects["Deployment"].Content["spec"].(values); spec["replicas"] != nil {
		t.Errorf("applying it again would set back the autoscaler: %v", spec["replicas"])
	}
}
