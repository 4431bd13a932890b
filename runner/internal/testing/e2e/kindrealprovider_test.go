package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/core/event"
)

// inCluster are the projects that deploy to the cluster, but for the bank, whose
// address cannot answer where nothing runs.
var inCluster = []string{
	"secrets", "ingress-controller-namespace", "ingress-controller", "logstore", "logagent", "certmgr", "prometheus", "observability",
}

// outside are the skipped projects: the images of the ingress
// controller, of which only a state is there.
const outside = "kic-image-build,kic-image-push,bank-of-anthos"

// newBareProviderKind creates an environment without a cluster, for Pulumi's own Kubernetes provider.
func newBareProviderKind(t *testing.T) *realKind {
	t.Helper()
	if os.Getenv("E2E_PROVIDER") == "" || os.Getenv("E2E_CHARTS") == "" {
		t.Skip("there is no Kubernetes provider and no chart here; `make e2e-provider` says what it needs")
	}
	r := newRealKind(t, "test")
	r.installProvider()
	r.leavesNothing(t)
	return r
}

// newProviderKind stands up a cluster for Pulumi's own Kubernetes provider, with a mirror of the charts. Pods do not run in
// it: a stand-in says that they are ready.
func newProviderKind(t *testing.T) *realKind {
	t.Helper()
	r := newBareProviderKind(t)
	r.upFromMirror()
	startStandIn(t, r.kubeconfigFile())
	return r
}

// upFromMirror stands up a cluster whose registry is a mirror with the charts. The images of the cluster, which the
// mirror is made of, are where they would be pulled from it.
func (r *realKind) upFromMirror() {
	r.t.Helper()
	r.mirror = fmt.Sprintf("localhost:%d/mirror", r.registry)
	r.configure()
	for _, image := range []string{r.images.node, r.images.registry} {
		mirrored := r.mirror + "/library/" + image
		runDocker(r.t, "tag", image, mirrored)
		r.t.Cleanup(func() { runDocker(r.t, "image", "rm", mirrored) })
	}
	r.up()
	pushCharts(r.t, fmt.Sprintf("http://localhost:%d/v2/mirror/charts/", r.registry))
}

// providerVersions returns what a test with Pulumi's own Kubernetes provider ran with.
func (r *realKind) providerVersions() map[string]string {
	r.t.Helper()
	all := r.versions()
	all["Pulumi's Kubernetes provider"] = providerVersion()
	return all
}

// providerVersion returns the version of the provider under test, and how it was built if it is not the released one.
func providerVersion() string {
	version := os.Getenv("E2E_PROVIDER_VERSION")
	if built := os.Getenv("E2E_PROVIDER_BUILT"); built != "" {
		version += " (" + built + ")"
	}
	return version
}

// TestProviderLife has Pulumi's own Kubernetes provider deploy the projects of the
// environment to a real cluster, with charts from a mirror. Their Pods do not run.
func TestProviderLife(t *testing.T) {
	r := newProviderKind(t)
	defer r.run("destroy", "--yes", "--force-forget", "-o", "json")
	r.pretendImages()
	run := realRun{Command: "make e2e-provider", Projects: append(strings.Split(realProjects, ","), inCluster...), Versions: r.providerVersions()}
	run.Parts = r.runParts(t, []realPart{
		{"up", providerUp},
		{"nothing to do", providerNothing},
		{"a changed value", providerChange},
		{"deleted by hand", providerDeleted},
		{"destroy what is in the cluster", providerDestroy},
		{"the cluster is replaced", providerReplaced},
		{"the cluster was deleted by hand", providerGone},
		{"the cluster is lost", providerLost},
	})
	r.record(t, run)
}

// installProvider puts the provider where Pulumi looks for it.
func (r *realKind) installProvider() {
	r.t.Helper()
	r.env = append(r.env, providerHome(r.t, os.Getenv("E2E_PROVIDER")))
}

// providerHome makes a home of Pulumi's with a Kubernetes provider, and returns the variable that names it.
func providerHome(t *testing.T, program string) string {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "plugins", "resource-kubernetes-v"+os.Getenv("E2E_PROVIDER_VERSION"))
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(program, filepath.Join(dir, "pulumi-resource-kubernetes"))); err != nil {
		t.Fatal(err)
	}
	return "PULUMI_HOME=" + home
}

// pretendImages gives the project of the ingress controller's image the state of
// a simulated run: its own provider would pull from the internet.
func (r *realKind) pretendImages() {
	r.t.Helper()
	r.simulate(0, "up", "-p", "kind", "--only", "+kic-image-push")
	state := r.run("pulumi", "kic-image-push", "--simulate", "--", "stack", "export")
	if state.code != 0 {
		r.t.Fatalf("exporting: exit code %d\n%s", state.code, state.stderr)
	}
	r.write("kic-image-push.json", state.stdout)
	for _, args := range [][]string{{"stack", "init", r.stack}, {"stack", "import", "--force", "--file", filepath.Join(r.root, "kic-image-push.json")}} {
		if done := r.run(append([]string{"pulumi", "kic-image-push", "--"}, args...)...); done.code != 0 {
			r.t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), done.code, done.stdout, done.stderr)
		}
	}
}

// deploy runs an up of everything that can be deployed.
func (r *realKind) deploy(args ...string) []event.Event {
	r.t.Helper()
	return r.operate(append([]string{"up", "--skip", outside, "--generate-secrets"}, args...)...)
}

func providerUp(r *realKind) {
	got := changed(r.deploy())
	slices.Sort(got)
	want := slices.Sorted(slices.Values(inCluster))
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("what has changed (-want +got):\n%s", diff)
	}
}

func providerNothing(r *realKind) {
	if got := changed(r.deploy()); len(got) > 0 {
		r.t.Errorf("what has changed: %v", got)
	}
	r.clean("--skip", outside)
}

// providerChange changes a value of a chart, which makes a second revision.
func providerChange(r *realKind) {
	got := changed(r.deploy("--config", "certmgr:values={podDnsPolicy: Default}"))
	if diff := cmp.Diff([]string{"certmgr"}, got); diff != "" {
		r.t.Errorf("what has changed (-want +got):\n%s", diff)
	}
	if policy := r.kubectl("get deployments --all-namespaces --selector=app=cert-manager --output=jsonpath={.items[0].spec.template.spec.dnsPolicy}"); policy != "Default" {
		r.t.Errorf("the Deployment has the DNS policy %q", policy)
	}
	r.deploy()
}

// providerDeleted deletes something that Pulumi has made: drift names it, refresh
// notes it, and up makes it anew.
func providerDeleted(r *realKind) {
	r.kubectl("delete --namespace=prometheus secret/prometheus-credentials")
	if drift := r.run("drift", "--exit-code", "--only", "secrets"); drift.code != 5 || !strings.Contains(drift.stdout, "gone: kubernetes:core/v1:Secret prometheus-credentials") {
		r.t.Errorf("drift: exit code %d\n%s%s", drift.code, drift.stdout, drift.stderr)
	}
	r.operate("refresh", "--only", "secrets")
	if diff := cmp.Diff([]string{"secrets"}, changed(r.deploy())); diff != "" {
		r.t.Errorf("what has changed (-want +got):\n%s", diff)
	}
}

// providerDestroy leaves a cluster as it was.
func providerDestroy(r *realKind) {
	r.operate("destroy", "--skip", "kind-cluster,kind-registry,kubeconfig,kic-image-build,kic-image-push")
	for _, kind := range []string{"namespaces", "crds", "persistentvolumes", "validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		r.eventually("", func() string { // a volume goes a while after its claim
			left := slices.DeleteFunc(strings.Fields(r.ask("get "+kind+" --output=name")), func(name string) bool {
				return strings.HasPrefix(name, "namespace/kube-") || name == "namespace/default" || name == "namespace/local-path-storage"
			})
			return strings.Join(left, " ")
		})
	}
}

// someInCluster are projects with objects and a Helm release in the cluster.
const someInCluster = "secrets,ingress-controller-namespace,certmgr"

// holdsSome holds that everything in the cluster is there, and nothing more to do.
func (r *realKind) holdsSome() {
	r.t.Helper()
	r.kubectl("get --namespace=prometheus secret/prometheus-credentials")
	r.kubectl("get namespace nginx-ingress")
	r.eventually("deployed", func() string {
		return r.ask("get secrets --all-namespaces --selector=owner=helm --output=jsonpath={.items[*].metadata.labels.status}")
	})
	if got := changed(r.operate("up", "--only", realProjects+","+someInCluster)); len(got) > 0 {
		r.t.Errorf("a further up changes %v", got)
	}
	r.clean("--only", realProjects+","+someInCluster)
}

// providerReplaced changes what only another cluster can have. The preview says what goes with the old one; one up
// empties it, replaces it and makes everything anew.
func providerReplaced(r *realKind) {
	r.operate("up", "--only", someInCluster)
	r.http = freePort(r.t)
	r.configure()
	up := []string{"--only", realProjects + "," + someInCluster}
	found := clusterFindings(r.operate(append([]string{"preview"}, up...)...))
	for _, want := range []string{"because httpPort", "secrets (", "certmgr (", "with 1 Helm release"} {
		if !strings.Contains(found, want) {
			r.t.Errorf("the preview does not say %q: %s", want, found)
		}
	}
	if refused := r.run(append([]string{"up", "--yes"}, up...)...); refused.code != 1 || !strings.Contains(refused.stdout+refused.stderr, "the loss of a cluster") {
		r.t.Fatalf("an up that replaces the cluster: exit code %d\n%s%s", refused.code, refused.stdout, refused.stderr)
	}
	r.kubectl("get --namespace=prometheus secret/prometheus-credentials")
	got := changed(r.operate(append([]string{"up", "--allow", "cluster"}, up...)...))
	for _, project := range append([]string{"kind-cluster"}, strings.Split(someInCluster, ",")...) {
		if !slices.Contains(got, project) {
			r.t.Errorf("it has changed %v, and not %s", got, project)
		}
	}
	r.holdsSome()
}

// providerGone deletes the cluster by hand, with something in it: an up says so, and makes everything anew, whether a
// refresh has found it out before or not.
func providerGone(r *realKind) {
	for _, refreshed := range []bool{false, true} {
		r.lose(r.controlPlane())
		if refreshed {
			if result := r.run("refresh", "--yes", "--only", realProjects+","+someInCluster); result.code != 1 { // what is in it cannot be read
				r.t.Errorf("refresh: exit code %d\n%s%s", result.code, result.stdout, result.stderr)
			}
		}
		up := []string{"--only", realProjects + "," + someInCluster}
		if found := clusterFindings(r.operate(append([]string{"preview"}, up...)...)); !strings.Contains(found, "the cluster is gone") {
			r.t.Errorf("the preview says %q", found)
		}
		events := r.operate(append([]string{"up"}, up...)...)
		if text := strings.Join(warnings(events), "\n"); !strings.Contains(text, "the cluster is gone") {
			r.t.Errorf("up warns of %q", text)
		}
		r.holdsSome()
	}
}

// providerLost loses a cluster with something in it: each operation says so once,
// and --force-forget drops what was in it.
func providerLost(r *realKind) {
	r.lose(r.controlPlane())
	failed := r.run("destroy", "--only", someInCluster, "--yes")
	text := failed.stdout + failed.stderr
	if failed.code != 1 || !strings.Contains(text, "the Kubernetes cluster is unreachable") || !strings.Contains(text, "--force-forget") ||
		strings.Contains(text, "PULUMI_K8S_DELETE_UNREACHABLE") {
		r.t.Errorf("destroy: exit code %d\n%s", failed.code, text)
	}
	if done := r.run("pulumi", "kic-image-push", "--", "stack", "rm", "--force", "--yes"); done.code != 0 {
		r.t.Errorf("removing the pretended state: exit code %d\n%s%s", done.code, done.stdout, done.stderr)
	}
	r.operate("destroy", "--force-forget")
	if left := r.containersOf(); len(left) > 0 {
		r.t.Errorf("left: %v", left)
	}
}

// pushCharts puts the charts of a directory, a directory each, into a registry, as OCI
// artifacts.
func pushCharts(t *testing.T, repository string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(os.Getenv("E2E_CHARTS"), "*", "Chart.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("E2E_CHARTS=%s has no charts: %v", os.Getenv("E2E_CHARTS"), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var about map[string]any
		if err := yaml.Unmarshal(content, &about); err != nil {
			t.Fatal(err)
		}
		config, err := json.Marshal(about)
		if err != nil {
			t.Fatal(err)
		}
		pushChart(t, repository+fmt.Sprint(about["name"]), strings.ReplaceAll(fmt.Sprint(about["version"]), "+", "_"), config, packed(t, filepath.Dir(file)))
	}
}

// packed returns a chart as `helm package` makes it, without the schema of its values:
// docs/mirror.md says why.
func packed(t *testing.T, dir string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	w := tar.NewWriter(zipped)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(filepath.Dir(dir), path)
		if err != nil || entry.IsDir() || strings.Count(name, "/") == 1 && entry.Name() == "values.schema.json" {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg})
		}
		if err == nil {
			_, err = w.Write(content)
		}
		return err
	})
	for _, close := range []func() error{w.Close, zipped.Close} {
		if err == nil {
			err = close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// pushChart pushes one chart.
func pushChart(t *testing.T, repository, tag string, config, archive []byte) {
	t.Helper()
	described := func(kind string, content []byte) map[string]any {
		return map[string]any{"mediaType": kind, "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(content)), "size": len(content)}
	}
	for _, blob := range [][]byte{config, archive} {
		begun, _ := send(t, http.MethodPost, repository+"/blobs/uploads/", "", nil)
		place, err := url.Parse(begun.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		query := place.Query()
		query.Set("digest", fmt.Sprintf("sha256:%x", sha256.Sum256(blob)))
		place.RawQuery = query.Encode()
		send(t, http.MethodPut, place.String(), "application/octet-stream", blob)
	}
	const manifestType = "application/vnd.oci.image.manifest.v1+json"
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType,
		"config": described("application/vnd.cncf.helm.config.v1+json", config),
		"layers": []any{described("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive)},
	})
	if err != nil {
		t.Fatal(err)
	}
	send(t, http.MethodPut, repository+"/manifests/"+tag, manifestType, manifest)
}

// send sends a request that has to succeed, and returns the header and the content of the answer. kind is that of the
// content, or of the answer if there is none.
func send(t *testing.T, method, address, kind string, content []byte) (http.Header, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case kind == "":
	case content == nil:
		request.Header.Set("Accept", kind)
	default:
		request.Header.Set("Content-Type", kind)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s: %s %v", method, address, response.Status, answer, err)
	}
	return response.Header, answer
}
