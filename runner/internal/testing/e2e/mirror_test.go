package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	oci "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/testing/mirrortest"
)

// realCharts names a directory with the archives of the plan's charts, as `helm
// pull` leaves them.
const realCharts = "MARA_CHARTS"

// chartsOf returns the versions of the charts that the programs release, by name.
func chartsOf(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../../../projects/programs/testdata/charts/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no charts: %v", err)
	}
	charts := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var known struct{ Chart, Version string }
		if err := yaml.Unmarshal(content, &known); err != nil {
			t.Fatal(err)
		}
		charts[known.Chart] = known.Version
	}
	return charts
}

// registryOf serves a registry in memory that is also a repository of charts.
func registryOf(t *testing.T, archives map[string][]byte) (host string) {
	t.Helper()
	index := "entries:\n"
	for chart, version := range chartsOf(t) {
		index += fmt.Sprintf("  %s: [{version: %s, urls: [%s.tgz]}]\n", chart, version, chart)
	}
	images := oci.New(oci.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		archive, ok := archives[strings.TrimSuffix(filepath.Base(r.URL.Path), ".tgz")]
		switch {
		case r.URL.Path == "/index.yaml":
			_, _ = io.WriteString(w, index)
		case ok && strings.HasSuffix(r.URL.Path, ".tgz"):
			_, _ = w.Write(archive)
		default:
			images.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// repositories returns the configuration that takes all charts from a repository.
func repositories(host string) string {
	text := "config:\n"
	for _, project := range projects.All() {
		for _, key := range project.Keys {
			if strings.HasSuffix(key.Name, projects.ChartRepository) {
				text += fmt.Sprintf("  %s: http://%s\n", key.Name, host)
			}
		}
	}
	return text
}

// generatedCharts returns charts with one image each, of the values that the programs give.
func generatedCharts(t *testing.T) map[string][]byte {
	archives := map[string][]byte{}
	for chart, version := range chartsOf(t) {
		archives[chart] = mirrortest.Pack(t, map[string]string{
			chart + "/Chart.yaml":         fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", chart, version),
			chart + "/values.yaml":        "{}\n",
			chart + "/values.schema.json": `{"properties": {"affinity": {"$ref": "https://example.invalid/affinity.json"}}}`,
			chart + "/templates/pod.yaml": "kind: Pod\nspec: {image: '{{ .Values.imageRegistry | default \"quay.io\" }}/generated/" + chart + ":" + strings.ReplaceAll(version, "+", "_") + "'}\n",
		})
	}
	return archives
}

// mirrorList reads what `runner mirror list` prints.
func mirrorList(t *testing.T, e *environment, args ...string) mirror.List {
	t.Helper()
	r := e.run(append([]string{"mirror", "list", "-o", "json"}, args...)...)
	var found mirror.List
	if err := json.Unmarshal([]byte(r.stdout), &found); r.code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", r.code, err, r.stderr)
	}
	return found
}

// put puts an image of this name into a registry.
func put(t *testing.T, at string) {
	t.Helper()
	image, err := random.Image(256, 1)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(at)
	if err == nil {
		err = remote.Write(ref, image)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fill puts charts, and images of the right names, into a mirror. It returns
// the images with a digest, which a test cannot generate.
func fill(t *testing.T, address string, needed mirror.List) (pinned []string) {
	t.Helper()
	ways := mirror.NewNetwork(nil, "")
	t.Cleanup(func() { _ = ways.Close() })
	to := mirror.Copier{Network: ways, Address: address}
	for _, chart := range needed.Charts {
		if _, err := to.Chart(t.Context(), chart); err != nil {
			t.Fatal(err)
		}
	}
	for _, image := range needed.Images {
		if image.Digest != "" {
			pinned = append(pinned, image.Target)
			continue
		}
		put(t, address+"/"+image.Target)
	}
	return pinned
}

// TestMirror lists what an environment needs, and finds it in a mirror: charts
// that are rendered with the mirror name images that are in it, and no others.
func TestMirror(t *testing.T) {
	t.Parallel()
	host := registryOf(t, generatedCharts(t))
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", repositories(host)+"  "+config.InfraType+": kind\n")
	needed := mirrorList(t, e, "-s", "dev")
	var images []string
	for _, image := range needed.Images {
		images = append(images, strings.SplitN(image.Name, "@", 2)[0])
	}
	for _, want := range []string{"kindest/node:v1.36.4", "registry:3", projects.KICImage, "quay.io/generated/cert-manager:v1.21.1"} {
		if !slices.Contains(images, want) {
			t.Errorf("the list has no %s: %q", want, images)
		}
	}
	if i := slices.IndexFunc(images, func(image string) bool { return strings.Contains(image, "localhost") }); i >= 0 || len(needed.Charts) != 8 {
		t.Errorf("the list has %d charts, and the environment's own image: %q", len(needed.Charts), images)
	}
	content, err := os.ReadFile(documented("kind"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines(needed) {
		if !strings.Contains(line, "/generated/") && !strings.Contains(string(content), line) {
			t.Errorf("docs/mirror lacks %s; record it anew as CONTRIBUTING says", line)
		}
	}
	for _, left := range []string{".runner/simulated", ".runner/state", ".runner/work"} {
		if _, err := os.Stat(filepath.Join(e.root, left)); err == nil {
			t.Errorf("%s is left", left)
		}
	}
	address := host + "/mirror"
	pinned := fill(t, address, needed)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  "+config.InfraType+": kind\n  kubernetes:mirror: "+address+"\n")
	r := e.run("mirror", "check", "-s", "dev")
	if r.code != 1 || strings.Count(r.stdout, "\n") != len(pinned)+7 || strings.Count(r.stdout, "does not have it") != len(pinned) {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if strings.Count(r.stdout, "comes from elsewhere") != 7 { // only cert-manager's values name the registry so
		t.Errorf("check: %s", r.stdout)
	}
	if only := e.run("mirror", "check", "-s", "dev", "--only", "certmgr,kind-registry"); only.code != 0 || !strings.HasPrefix(only.stdout, "1 chart and 2 images come from ") {
		t.Errorf("exit code %d: %s%s", only.code, only.stdout, only.stderr)
	}
}

// TestMirrorSync copies an image and a chart with the command.
func TestMirrorSync(t *testing.T) {
	t.Parallel()
	host := registryOf(t, map[string][]byte{"cert-manager": mirrortest.Pack(t, map[string]string{
		"cert-manager/Chart.yaml":         "apiVersion: v2\nname: cert-manager\nversion: v1.21.1\n",
		"cert-manager/values.schema.json": `{"properties": {"affinity": {"$ref": "https://example.invalid/affinity.json"}}}`,
	})})
	put(t, host+"/tools/registry:3")
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  "+config.InfraType+": kind\n  certmgr:chart_repository: http://"+host+
		"\n  kind:registry_image: "+host+"/tools/registry:3\n")
	// The charts of the other projects are not needed.
	sync := func(args ...string) result {
		return e.run(append([]string{"mirror", "sync", host + "/mirror", "-s", "dev", "--only", "certmgr,kind-registry"}, args...)...)
	}
	chart, image := "chart http://"+host+"/cert-manager:v1.21.1: ", "image "+host+"/tools/registry:3: "
	const local = ", without the references of its schema to the internet"
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"--dry-run"}, "1/2  " + chart + "to be copied" + local + "\n2/2  " + image + "to be copied\n\n2 to be copied, 0 there already.\n"},
		{nil, "1/2  " + chart + "copied" + local + "\n2/2  " + image + "copied\n\n2 copied, 0 there already.\n"},
		{nil, "1/2  " + chart + "there already" + local + "\n2/2  " + image + "there already\n\n0 copied, 2 there already.\n"},
	} {
		r := sync(step.args...)
		if diff := cmp.Diff(step.want, r.stdout); r.code != 0 || diff != "" {
			t.Errorf("%v: exit code %d (-want +got):\n%s%s", step.args, r.code, diff, r.stderr)
		}
	}
	testDigests(t, e, host+"/mirror")
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  "+config.InfraType+": kind\n  kind:registry_image: "+host+"/tools/gone:3\n")
	r := e.run("mirror", "sync", host+"/mirror", "-s", "dev", "--only", "kind-registry")
	if r.code != 1 || !strings.Contains(r.stdout, host+"/tools/gone:3: "+host+" does not have it\n") || !strings.Contains(r.stderr, "1 of 1 is not in the mirror; the same command continues") {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	for _, wrong := range [][]string{{"sync"}, {"sync", "https://" + host}, {"sync", "a", "b"}, {"list", "--output", "yaml"}} {
		if r := e.run(append([]string{"mirror"}, wrong...)...); r.code != 2 {
			t.Errorf("%v: exit code %d: %s", wrong, r.code, r.stderr)
		}
	}
}

// testDigests: the digests of what was copied are kept, and a tag that was moved since is found.
func testDigests(t *testing.T, e *environment, mirror string) {
	t.Helper()
	run := func(code int, command, want string) {
		t.Helper()
		r := e.run(strings.Fields(command + " -s dev --only kind-registry --digests mirror.txt")...)
		if r.code != code || !strings.Contains(r.stdout+r.stderr, want) {
			t.Errorf("%s: exit code %d, want %q in\n%s%s", command, r.code, want, r.stdout, r.stderr)
		}
	}
	const stack = "config/pulumi/Pulumi.dev.yaml"
	origin, err := os.ReadFile(filepath.Join(e.root, stack))
	if err != nil {
		t.Fatal(err)
	}
	check := func(code int, want string) {
		t.Helper()
		e.write(stack, "config:\n  "+config.InfraType+": kind\n  kind:registry_image: "+mirror+"/tools/registry:3\n")
		run(code, "mirror check "+mirror, want)
		e.write(stack, string(origin))
	}
	file := filepath.Join(e.root, "mirror.txt")
	run(0, "mirror sync "+mirror+" --dry-run", "there already")
	if _, err := os.Stat(file); err == nil {
		t.Error("a dry run wrote the digests")
	}
	run(0, "mirror sync "+mirror, "there already")
	content, err := os.ReadFile(file)
	if err != nil || !regexp.MustCompile(`(?m)^sha256:[0-9a-f]{64}  tools/registry:3$`).Match(content) {
		t.Fatalf("%v: %s", err, content)
	}
	check(0, "1 image come")
	put(t, mirror+"/tools/registry:3")
	check(1, "its tag was moved")
	run(0, "mirror sync "+mirror, "1 copied")
	check(0, "")
	e.write("mirror.txt", "library/registry:3 sha256:1\n")
	check(3, "mirror.txt:1: not a digest and the place of an image")
	e.write("mirror.txt", "# by hand\n")
	check(1, "image tools/registry:3 is not in mirror.txt")
	run(3, "mirror sync "+mirror, "was not written by `runner mirror sync --digests`")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// TestMirrorOfRealCharts holds the list of each provider against the record of
// what the real charts name, and finds everything in a mirror.
func TestMirrorOfRealCharts(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(realCharts)
	if dir == "" {
		t.Skip(realCharts + " does not name a directory with the real charts")
	}
	archives := map[string][]byte{}
	for chart, version := range chartsOf(t) {
		archive, err := os.ReadFile(filepath.Join(dir, chart+"-"+version+".tgz"))
		if err != nil {
			t.Fatal(err)
		}
		archives[chart] = archive
	}
	host := registryOf(t, archives)
	for _, provider := range []string{"aws", "linode", "kind"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			e.write("config/pulumi/Pulumi.dev.yaml", repositories(host))
			needed := mirrorList(t, e, "-s", "dev", "-p", provider)
			compareFile(t, documented(provider), strings.Join(lines(needed), ""))

			address := host + "/" + provider
			pinned := fill(t, address, needed)
			e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:mirror: "+address+"\n")
			r := e.run("mirror", "check", "-s", "dev", "-p", provider)
			if strings.Count(r.stdout, "\n") != len(pinned) || strings.Count(r.stdout, "does not have it") != len(pinned) {
				t.Errorf("exit code %d, want %d pinned images that are missing:\n%s%s", r.code, len(pinned), r.stdout, r.stderr)
			}
		})
	}
}

// documented returns the path of the file that lists what a provider's defaults need.
func documented(provider string) string {
	return filepath.Join("..", "..", "..", "..", "docs", "mirror", provider+".txt")
}

// lines returns a list as it is documented.
func lines(needed mirror.List) []string {
	var all []string
	for _, chart := range needed.Charts {
		all = append(all, fmt.Sprintf("chart %s:%s  %s\n", chart.Name, chart.Version, strings.Join(chart.Projects, ", ")))
	}
	for _, image := range needed.Images {
		all = append(all, fmt.Sprintf("image %s  %s\n", image.Name, strings.Join(image.Projects, ", ")))
	}
	return all
}

// compareFile holds a text against a recorded one. MARA_RECORD=1 records it.
func compareFile(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("MARA_RECORD") != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
