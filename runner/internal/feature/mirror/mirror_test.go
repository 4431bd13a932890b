package mirror

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImagesIn(t *testing.T) {
	t.Parallel()
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	pod := func(container map[string]any) map[string]any {
		return map[string]any{"kind": "Deployment", "spec": map[string]any{"template": map[string]any{
			"spec": map[string]any{"containers": []any{container}},
		}}}
	}
	args := func(list ...any) map[string]any { return pod(map[string]any{"args": list}) }
	for _, test := range []struct {
		name   string
		object map[string]any
		want   []string
	}{
		{"nothing", map[string]any{"kind": "ConfigMap", "data": map[string]any{"a": "image: x:1"}}, nil},
		{"a container", pod(map[string]any{"image": "busybox"}), []string{"busybox"}},
		{"a custom resource", map[string]any{"kind": "Prometheus", "spec": map[string]any{"image": "quay.io/prometheus/prometheus:v3"}}, []string{"quay.io/prometheus/prometheus:v3"}},
		{"an image that is an object", map[string]any{"spec": map[string]any{"image": map[string]any{"repository": "x"}}}, nil},
		{"a flag that says image", args("--thanos-default-base-image=thanos/thanos:v1"), []string{"thanos/thanos:v1"}},
		{"a flag with an image of a registry", args("--prometheus-config-reloader=quay.io/x/reloader:v0.93.1"), []string{"quay.io/x/reloader:v0.93.1"}},
		{"a registry with a port", args("--reloader=registry:5000/x/reloader:v1"), []string{"registry:5000/x/reloader:v1"}},
		{"a digest", args("--solver-image=quay.io/x/solver" + digest), []string{"quay.io/x/solver" + digest}},
		{"flags that are no images", args(
			"--web.external-url=http://prometheus.example.com:9090", "--listen=0.0.0.0:8080", "--service=kube-system/kubelet",
			"--image-pull=Always", "serve", "--v=2", "--otlp=otel.observability.svc:4317",
		), nil},
		{"a variable that says image", pod(map[string]any{"env": []any{
			map[string]any{"name": "RELATED_IMAGE_COLLECTOR", "value": "ghcr.io/x/collector:1"},
			map[string]any{"name": "IMAGE_PULL_POLICY", "value": "Always"},
			map[string]any{"name": "OTHER", "value": "ghcr.io/x/other:1"},
		}}), []string{"ghcr.io/x/collector:1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, imagesIn(test.object)); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
}

// none has no charts.
type none struct{}

func (none) Fetch(_ context.Context, chart Chart) ([]byte, error) {
	return nil, errors.New("unexpected chart " + chart.Name)
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	var needs Needs
	image := func(image string) map[string]any {
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": image}}}}
	}
	needs.Saw("build", "docker:index/remoteImage:RemoteImage", map[string]any{"name": "nginx/nginx-ingress:5"})
	needs.Saw("build", "docker:index/remoteImage:RemoteImage", map[string]any{"name": "made/here:5", "build": map[string]any{}})
	needs.Saw("push", registryImage, map[string]any{"name": "localhost:5001/nginx-ingress:5"})
	needs.Saw("controller", "kubernetes:core/v1:Pod", image("localhost:5001/nginx-ingress:5@sha256:ab"))
	needs.Saw("shop", "kubernetes:core/v1:Pod", image("busybox:1"))
	needs.Saw("left-out", "kubernetes:core/v1:Pod", image("busybox:1"))
	needs.Saw("left-out", "kubernetes:core/v1:Pod", image("busybox:2"))
	needs.Saw("left-out", ReleaseToken, map[string]any{"chart": "x"})
	needs.Saw("bank", "kubernetes:core/v1:Pod", image("docker.io/library/busybox:1"))
	needs.Saw("cluster", "kind:index:Cluster", map[string]any{"nodeImage": "kindest/node:v1"})
	needs.Saw("cluster", "aws:ec2/instance:Instance", map[string]any{"image": "ami-1"})
	list, err := needs.List(t.Context(), none{}, func(project string) bool { return project != "left-out" })
	want := List{Images: []Image{
		{Name: "busybox:1", Target: "library/busybox:1", Projects: []string{"bank", "shop"}},
		{Name: "kindest/node:v1", Target: "kindest/node:v1", Projects: []string{"cluster"}},
		{Name: "nginx/nginx-ingress:5", Target: "nginx/nginx-ingress:5", Projects: []string{"build"}},
	}}
	if diff := cmp.Diff(want, list); err != nil || diff != "" {
		t.Errorf("list (-want +got):\n%s\nerror %v", diff, err)
	}
}

func TestTwoImagesOfOneName(t *testing.T) {
	t.Parallel()
	var needs Needs
	needs.Saw("a", "kind:index:Registry", map[string]any{"image": "quay.io/x/y:1"})
	needs.Saw("b", "kind:index:Registry", map[string]any{"image": "ghcr.io/x/y:1"})
	_, err := needs.List(t.Context(), none{}, func(string) bool { return true })
	if err == nil || err.Error() != "ghcr.io/x/y:1 and quay.io/x/y:1 would both be x/y:1 in the mirror" {
		t.Errorf("error %v, want a clash", err)
	}
}

// TestTwoChartsOfOneName: charts of two repositories that would overwrite one another in the mirror are refused.
func TestTwoChartsOfOneName(t *testing.T) {
	t.Parallel()
	chart := func(repository, version string) Chart {
		return Chart{Name: "app", Version: version, Repository: repository}
	}
	list := func(all ...Chart) (List, error) {
		charts := map[string]Chart{}
		for _, one := range all {
			charts[one.source()] = one
		}
		return newList(charts, nil)
	}
	const want = "the charts https://a.test/app:1.0.0 and https://b.test/app:1.0.0 would both be charts/app:1.0.0 in the mirror: " +
		"install one of them under another version, or from one repository"
	for range 10 { // in any order of the map
		if _, err := list(chart("https://b.test", "1.0.0"), chart("https://a.test/", "1.0.0")); err == nil || err.Error() != want {
			t.Fatalf("error %v, want a clash", err)
		}
	}
	if _, err := list(chart("https://a.test", "1.0.0+x"), chart("https://b.test", "1.0.0_x")); err == nil {
		t.Error("versions with one tag do not clash")
	}
	for range 10 {
		got, err := list(chart("https://b.test", "1.0.0"), chart("https://a.test", "2.0.0"))
		if err != nil || len(got.Charts) != 2 || got.Charts[0].Version != "1.0.0" {
			t.Errorf("%+v, %v", got, err)
		}
	}
}
