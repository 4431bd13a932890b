package mirror

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"

	"mara/runner/internal/testing/mirrortest"
)

// shop packs a chart with everything that charts have: values, a chart inside that can be
// switched off, hooks, a test, notes and definitions.
func shop(t *testing.T) []byte {
	return mirrortest.Pack(t, map[string]string{
		"shop/Chart.yaml":  "apiVersion: v2\nname: shop\nversion: 1.2.0+build\ndependencies: [{name: cache, version: 1.0.0, condition: cache.enabled}]\n",
		"shop/values.yaml": "image: {registry: quay.io, tag: v1}\ncache: {enabled: true}\n",
		"shop/templates/deployment.yaml": "kind: Deployment\nspec: {template: {spec: {containers: [" +
			"{image: '{{ .Values.image.registry }}/shop/web:{{ .Values.image.tag }}', args: ['--solver-image=quay.io/shop/solver:v1']}]}}}\n",
		"shop/templates/hook.yaml":                "kind: Job\nmetadata: {annotations: {helm.sh/hook: pre-install}}\nspec: {image: 'quay.io/shop/hook:v1'}\n",
		"shop/templates/test.yaml":                "kind: Pod\nmetadata: {annotations: {helm.sh/hook: test-success}}\nspec: {image: 'quay.io/shop/test:v1'}\n",
		"shop/templates/NOTES.txt":                "image: {{ .Release.Name }} is there\n",
		"shop/crds/shop.yaml":                     "kind: CustomResourceDefinition\nmetadata: {name: shops}\n",
		"shop/charts/cache/Chart.yaml":            "apiVersion: v2\nname: cache\nversion: 1.0.0\n",
		"shop/charts/cache/templates/cache.yaml":  "kind: Pod\nspec: {image: 'valkey:{{ .Capabilities.KubeVersion.Minor }}'}\n",
		"shop/charts/cache/values.schema.json":    `{"type": "object"}`,
		"shop/charts/cache/templates/_helper.tpl": "",
	})
}

func TestRender(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		values map[string]any
		want   []string
	}{
		{"as the chart is", nil, []string{"quay.io/shop/hook:v1", "quay.io/shop/solver:v1", "quay.io/shop/web:v1", "valkey:36"}},
		{
			"values of a program", map[string]any{"image": map[string]any{"registry": "ghcr.io"}, "cache": map[string]any{"enabled": false}},
			[]string{"ghcr.io/shop/web:v1", "quay.io/shop/hook:v1", "quay.io/shop/solver:v1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			objects, err := Render(shop(t), Release{Name: "shop", Namespace: "shop", Chart: "shop", Version: "1.2.0+build", Values: test.values}, Kubernetes{})
			if err != nil {
				t.Fatal(err)
			}
			var images []string
			for _, object := range objects {
				images = append(images, imagesIn(map[string]any(object))...)
			}
			slices.Sort(images)
			if diff := cmp.Diff(test.want, images); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRenderForCluster: charts are rendered for the version of the cluster that the programs
// declare. It was 1.36 for every cluster.
func TestRenderForCluster(t *testing.T) {
	t.Parallel()
	const eks, kind = "aws:eks/cluster:Cluster", "kind:index:Cluster"
	type cluster struct{ token, input, value string }
	for name, test := range map[string]struct {
		clusters []cluster
		want     string // the tag of an image, which is the minor version
		origin   string
	}{
		"major.minor":     {[]cluster{{eks, "version", "1.34"}}, "valkey:34", "Kubernetes v1.34.0 (the cluster of p0)"},
		"a whole version": {[]cluster{{"digitalocean:index/kubernetesCluster:KubernetesCluster", "version", "1.35.2-do.0"}}, "valkey:35", "Kubernetes v1.35.2 (the cluster of p0)"},
		"linode":          {[]cluster{{"linode:index/lkeCluster:LkeCluster", "k8sVersion", "1.33"}}, "valkey:33", "Kubernetes v1.33.0 (the cluster of p0)"},
		"a node image":    {[]cluster{{kind, "nodeImage", "localhost:5000/kindest/node:v1.35.8@sha256:07b2"}}, "valkey:35", "Kubernetes v1.35.8 (the cluster of p0)"},
		"another image":   {[]cluster{{kind, "nodeImage", "example.com/node:latest"}}, "valkey:36", "Kubernetes v1.36.0 (the default: the programs declare no single version)"},
		"two of one":      {[]cluster{{eks, "version", "1.34"}, {eks, "version", "1.34"}}, "valkey:34", "Kubernetes v1.34.0 (the cluster of p1)"},
		"two of two":      {[]cluster{{eks, "version", "1.34"}, {eks, "version", "1.35"}}, "valkey:36", "Kubernetes v1.36.0 (the default: the programs declare no single version)"},
		"none":            {nil, "valkey:36", "Kubernetes v1.36.0 (the default: the programs declare no single version)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clusters Clusters
			for i, c := range test.clusters {
				clusters.Saw(fmt.Sprintf("p%d", i), c.token, map[string]any{c.input: c.value})
			}
			objects, err := Render(shop(t), Release{Name: "shop", Namespace: "shop", Chart: "shop", Version: "1.2.0+build"}, clusters.Kubernetes())
			if err != nil {
				t.Fatal(err)
			}
			var images []string
			for _, object := range objects {
				images = append(images, imagesIn(map[string]any(object))...)
			}
			if !slices.Contains(images, test.want) || clusters.Kubernetes().String() != test.origin {
				t.Errorf("%s: %v", clusters.Kubernetes(), images)
			}
		})
	}
}

func TestRenderNamesTheChart(t *testing.T) {
	t.Parallel()
	broken := mirrortest.Pack(t, map[string]string{"x/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n", "x/templates/a.yaml": "{{ fail `no` }}"})
	_, err := Render(broken, Release{Chart: "oci://example.com/x", Version: "1.0.0"}, Kubernetes{})
	if err == nil || !strings.Contains(err.Error(), "rendering chart x 1.0.0: ") {
		t.Errorf("error %v", err)
	}
}

// serve starts a web server and a registry in memory.
func serve(t *testing.T, files map[string][]byte) (host string) {
	t.Helper()
	oci := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if content, ok := files[r.URL.Path]; ok {
			_, _ = w.Write(content)
			return
		}
		oci.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func reference(t *testing.T, at string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(at)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func network(t *testing.T, cache string) Network {
	n := NewNetwork(nil, cache)
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func TestFetch(t *testing.T) {
	t.Parallel()
	archive := shop(t)
	index := fmt.Sprintf("entries:\n  shop:\n  - {version: 1.2.0+build, digest: %x, urls: [shop.tgz]}\n"+
		"  - {version: 1.1.0, digest: 0123, urls: [shop.tgz]}\n  - {version: 1.0.0, urls: [away.tgz]}\n", sha256.Sum256(archive))
	host := serve(t, map[string][]byte{"/stable/index.yaml": []byte(index), "/stable/shop.tgz": archive, "/odd/index.yaml": []byte("[")})
	pushed, err := newArtifact(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference(t, host+"/charts/shop:1.2.0_build"), pushed); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, repository, version, fails string }{
		{"a repository", "http://" + host + "/stable", "1.2.0+build", ""},
		{"a registry", "oci://" + host + "/charts", "1.2.0+build", ""},
		{"no such version", "http://" + host + "/stable", "9", "does not have it: no such chart or version"},
		{"another digest", "http://" + host + "/stable", "1.1.0", "not the one in index.yaml"},
		{"no archive", "http://" + host + "/stable", "1.0.0", "404 Not Found"},
		{"no index", "http://" + host + "/odd", "1", "not the index of a chart repository"},
		{"not in the registry", "oci://" + host + "/charts", "9", "does not have it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := network(t, "").Fetch(t.Context(), Chart{Name: "shop", Version: test.version, Repository: test.repository})
			switch {
			case test.fails == "" && (err != nil || !bytes.Equal(got, archive)):
				t.Errorf("got %d bytes and error %v", len(got), err)
			case test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails) || !strings.Contains(err.Error(), "fetching chart ")):
				t.Errorf("error %v, want one that says %q", err, test.fails)
			}
		})
	}
}

func TestFetchOnce(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"/index.yaml": []byte("entries: {shop: [{version: 1.2.0+build, urls: [shop.tgz]}]}"), "/shop.tgz": shop(t)}
	host, cache := serve(t, files), t.TempDir()
	chart := Chart{Name: "shop", Version: "1.2.0+build", Repository: "http://" + host}
	if _, err := network(t, cache).Fetch(t.Context(), chart); err != nil {
		t.Fatal(err)
	}
	chart.Repository += ":1" // no server listens there, and it is another chart
	if _, err := network(t, cache).Fetch(t.Context(), chart); err == nil {
		t.Error("a chart of another repository was taken from the cache")
	}
	chart.Repository = strings.TrimSuffix(chart.Repository, ":1")
	delete(files, "/index.yaml")
	if got, err := network(t, cache).Fetch(t.Context(), chart); err != nil || !bytes.Equal(got, files["/shop.tgz"]) {
		t.Errorf("got %d bytes and error %v", len(got), err)
	}
}

// TestLocalSchema has Helm check values with the schema of a chart that leads to
// the network.
func TestLocalSchema(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("Helm asks for %s", r.URL) }))
	t.Cleanup(away.Close)
	schema := `{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "integer"}},
		"properties": {"replicas": {"$ref": "#/definitions/n"}, "affinity": {"$ref": "` + away.URL + `/k8s.json#/definitions/Affinity", "default": {}},
		"list": {"type": "array", "items": [{"$ref": "other.json"}]}}}`
	inner := mirrortest.Pack(t, map[string]string{"in/Chart.yaml": "apiVersion: v2\nname: in\nversion: 1.0.0\n", "in/values.schema.json": schema})
	archive := mirrortest.Pack(t, map[string]string{
		"x/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n", "x/values.schema.json": schema, "x/charts/in-1.0.0.tgz": string(inner),
	})
	local, changed, err := localise(archive)
	if err != nil || !changed {
		t.Fatalf("changed %v, error %v", changed, err)
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(local))
	if err != nil {
		t.Fatal(err)
	}
	values := func(replicas any) map[string]any {
		one := map[string]any{"replicas": replicas, "affinity": map[string]any{"any": "thing"}, "list": []any{1}}
		return map[string]any{"replicas": replicas, "affinity": one["affinity"], "in": one}
	}
	if err := chartutil.ValidateAgainstSchema(loaded, values(2)); err != nil {
		t.Errorf("values that are right: %v", err)
	}
	if err := chartutil.ValidateAgainstSchema(loaded, values("two")); err == nil {
		t.Error("values that are wrong pass")
	}
	again, changed, err := localise(local)
	if err != nil || changed || !bytes.Equal(again, local) {
		t.Errorf("a second time: changed %v, error %v", changed, err)
	}
}
