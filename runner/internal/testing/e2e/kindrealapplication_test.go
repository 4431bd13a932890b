package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mara/runner/internal/testing/kindtest"
	"mara/runner/internal/workflow/upgrade"
)

// bare is the beginning of mara.yaml of an environment on a cluster that has little more than applications.
const bare = `providers:
  cluster:
    without: [bank-of-anthos, kic-image-build, kic-image-push, ingress-controller, ingress-controller-namespace,
      cluster-registry, cluster-registry-credentials, logstore, logagent, certmgr, prometheus, observability]
`

// onlyShop is mara.yaml of an environment with an application.
const onlyShop = bare + `applications:
  shop:
    image: %s
    port: 3000
    replicas: 2
    secrets: [DATABASE_URL]
    env: {LOG_LEVEL: info}
    files: {/etc/shop.conf: "size: 3\n"}
    before: [/shop, migrate]
    patch: .workload.options.customTimeouts.update = "1m"
`

const shopSecret = "postgres://shop:hunter2@db/shop"

// shop is an application whose Pods run, in an environment on a cluster with two workers.
type shop struct {
	*existing
	pushed map[string]string // digests of the images' indexes, by version
}

// TestProviderApplication deploys an application of ten lines to a real cluster, where its Pods run: it answers all the
// while that images change and nodes are drained, and what runs can be promoted by its digest.
func TestProviderApplication(t *testing.T) {
	r := newBareProviderKind(t)
	r.workers = 2
	r.configure()
	defer r.run("destroy", "--yes", "--force-forget", "-o", "json")
	r.up()
	r.ready()
	r.connectPods()
	s := &shop{pushed: map[string]string{}}
	for _, version := range []string{"1", "2"} {
		s.pushed[version] = r.pushShop(version)
	}
	s.existing = newExisting(t, r, fmt.Sprintf(onlyShop, r.shopImage("1")), "", map[string]string{"shop:DATABASE_URL": shopSecret})
	run := realRun{Command: "make e2e-provider", Provider: "cluster", Projects: []string{"secrets", "kubeconfig", "cluster-connection"},
		Versions: r.providerVersions()}
	part := func(name string, test func(*shop)) realPart {
		return realPart{name, func(r *realKind) {
			in := *s
			in.existing = s.existing.in(r)
			test(&in)
		}}
	}
	run.Parts = r.runParts(t, []realPart{
		part("an application answers, with its variables, files and secrets", shopAnswers),
		part("a new image, and no answer fails", shopRollsOut),
		part("promoted by the digest of the index", shopPromoted),
		part("nodes are drained, and no answer fails", shopDrained),
		part("an image that does not start", shopFails),
		part("an image without a registry is not promoted", shopLoaded),
		part("destroy without a trace", func(s *shop) { s.destroy() }),
	})
	record(t, run)
}

// connectPods gives each node its own addresses for Pods, and routes to those of the others: the test's nodes have no
// program for a network of Pods across nodes.
func (r *realKind) connectPods() {
	r.t.Helper()
	type node struct{ name, address, pods string }
	var nodes []node
	const columns = "get nodes --no-headers --output=custom-columns=:.metadata.name,:.status.addresses[0].address,:.spec.podCIDR"
	for line := range strings.Lines(r.kubectl(columns)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			r.t.Fatalf("a node without an address: %q", line)
		}
		nodes = append(nodes, node{words[0], words[1], words[2]})
	}
	for _, on := range nodes {
		script := "sed -i 's#10.244.0.0/16#" + on.pods + "#' /etc/cni/net.d/10-node.conflist\n"
		for _, other := range nodes {
			if other != on {
				script += "ip route replace " + other.pods + " via " + other.address + "\n"
			}
		}
		if output, err := r.docker.Exec(r.t.Context(), on.name, nil, "sh", "-ec", script); err != nil {
			r.t.Fatalf("%s: %v\n%s", on.name, err, output)
		}
	}
}

// shopImage returns the name of an image of the application, as nodes pull it.
func (r *realKind) shopImage(version string) string {
	return fmt.Sprintf("localhost:%d/shop:%s", r.registry, version)
}

// pushShop makes an image of the application, and pushes it with an index, as images for several architectures have it.
// It returns the digest of the index.
func (r *realKind) pushShop(version string) string {
	r.t.Helper()
	image := r.shopImage(version)
	files := map[string]kindtest.File{"shop": kindtest.Program(r.t, "testdata/shop/main.go"), "version": {Content: []byte(version)}}
	kindtest.Image(r.t, image+"-amd64", []string{"/shop"}, files)
	runDocker(r.t, "push", image+"-amd64")
	repository := fmt.Sprintf("http://localhost:%d/v2/shop/manifests/", r.registry)
	const single = "application/vnd.docker.distribution.manifest.v2+json"
	manifest := fetch(r.t, repository+version+"-amd64", single)
	const several = "application/vnd.docker.distribution.manifest.list.v2+json"
	index, err := json.Marshal(object{"schemaVersion": 2, "mediaType": several, "manifests": []object{{
		"mediaType": single, "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(manifest)), "size": len(manifest),
		"platform": object{"architecture": "amd64", "os": "linux"},
	}}})
	if err != nil {
		r.t.Fatal(err)
	}
	return send(r.t, http.MethodPut, repository+version, several, index).Get("Docker-Content-Digest")
}

// fetch returns the content at an address.
func fetch(t *testing.T, address, kind string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", kind)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", address, response.Status, err)
	}
	return content
}

// expose gives an application a port on all nodes: its own Service is for the cluster.
func (r *realKind) expose(application string) {
	r.t.Helper()
	r.kubectl("expose service " + application + " --namespace=" + application + " --name=outside --type=NodePort --port=80 --target-port=http")
}

// outside returns where an application answers that was exposed: at a port of the control plane.
func (r *realKind) outside(application string) string {
	r.t.Helper()
	port := r.kubectl("get service outside --namespace=" + application + " --output=jsonpath={.spec.ports[0].nodePort}")
	node := r.kubectl("get node " + r.controlPlane() + " --output=jsonpath={.status.addresses[0].address}")
	return "http://" + node + ":" + port + "/"
}

// get returns what an address answers, or why it does not.
func get(address string) string {
	response, err := http.Get(address)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	content, _ := io.ReadAll(response.Body)
	return string(content)
}

// answers holds that the application answers with a version.
func (s *shop) answers(version string) {
	s.t.Helper()
	want := fmt.Sprintf("version %s, level info, secret %x, file size: 3\n", version, sha256.Sum256([]byte(shopSecret)))
	s.cluster.eventually(want, func() string { return get(s.cluster.outside("shop")) })
}

// probe asks the application ten times a second while something happens, at least a thousand times, and holds that no
// answer has failed.
func (s *shop) probe(meanwhile func()) {
	s.t.Helper()
	const enough = 1000
	probe := &upgrade.Probe{URL: s.cluster.outside("shop"), Interval: 100 * time.Millisecond, Patience: 2 * time.Second}
	ctx, cancel := context.WithCancel(s.t.Context())
	var asking sync.WaitGroup
	asking.Go(func() { probe.Run(ctx) })
	defer func() { cancel(); asking.Wait() }()
	meanwhile()
	for probe.Result().Asked < enough {
		time.Sleep(time.Second)
	}
	cancel()
	asking.Wait()
	if result := probe.Result(); result.Failed > 0 || result.Asked < enough {
		s.t.Error(result)
	} else {
		s.t.Log(result)
	}
}

func shopAnswers(s *shop) {
	if got := s.up(); !slices.Contains(got, "shop") {
		s.t.Errorf("it has changed %v, and not shop", got)
	}
	s.cluster.expose("shop")
	s.answers("1")
	if log := s.cluster.kubectl("logs --namespace=shop --selector=job-name --tail=-1"); !strings.Contains(log, "migrate done") {
		s.t.Errorf("the Job before the rollout says %q", log)
	}
	nodes := strings.Fields(s.cluster.kubectl("get pods --namespace=shop --selector=app.kubernetes.io/name=shop --output=jsonpath={.items[*].spec.nodeName}"))
	slices.Sort(nodes)
	if nodes = slices.Compact(nodes); len(nodes) != 2 {
		s.t.Errorf("both Pods are on %v", nodes)
	}
	if got := s.up(); len(got) > 0 {
		s.t.Errorf("a further up changes %v", got)
	}
}

func (s *shop) image(image string) {
	s.t.Helper()
	if r := s.run("config", "set", "shop:image", image); r.code != 0 {
		s.t.Fatalf("config set: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

func shopRollsOut(s *shop) {
	s.image(s.cluster.shopImage("2"))
	s.probe(func() {
		if got := s.up(); !slices.Equal(got, []string{"shop"}) {
			s.t.Errorf("it has changed %v", got)
		}
		s.answers("2")
	})
}

// shopPromoted gives another environment what runs here, and deploys it by its digest, which is the same image.
func shopPromoted(s *shop) {
	s.write("config/pulumi/Pulumi.prod.yaml", "config:\n  kubernetes:infra_type: cluster\n")
	r := s.run("promote", "shop", "--from", "dev", "--to", "prod")
	content, err := os.ReadFile(filepath.Join(s.root, "config/pulumi/Pulumi.prod.yaml"))
	want := "shop:image: " + s.cluster.shopImage("2") + "@" + s.pushed["2"]
	if err != nil || r.code != 0 || !strings.Contains(string(content), want) {
		s.t.Fatalf("promote: exit code %d, want %q (%v)\n%s%s%s", r.code, want, err, content, r.stdout, r.stderr)
	}
	s.image(strings.TrimPrefix(want, "shop:image: "))
	s.up()
	s.answers("2")
}

// shopDrained drains one worker after the other, as an upgrade of nodes does.
func shopDrained(s *shop) {
	s.probe(func() {
		for _, worker := range []string{"-worker", "-worker2"} {
			node := s.cluster.cluster() + worker
			s.cluster.kubectl("drain " + node + " --ignore-daemonsets --delete-emptydir-data --timeout=5m")
			s.cluster.kubectl("rollout status deployment/shop --namespace=shop --timeout=5m")
			s.cluster.kubectl("uncordon " + node)
		}
	})
	s.answers("2")
}

// shopFails rolls out an image that does not exist: the Pods that answer stay, and the run says why it failed.
func shopFails(s *shop) {
	before := s.cluster.kubectl("get deployment shop --namespace=shop --output=jsonpath={.spec.template.spec.containers[0].image}")
	s.image(s.cluster.shopImage("none"))
	s.probe(func() {
		if r := s.run("up", "--yes"); r.code != 1 || !strings.Contains(r.stdout+r.stderr, "shop:none") {
			s.t.Errorf("up: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		s.image(before)
		s.up()
	})
	s.answers("2")
}

// shopLoaded runs an image that was loaded into the nodes: no registry has it.
func shopLoaded(s *shop) {
	const image = "shop-loaded:1"
	files := map[string]kindtest.File{"shop": kindtest.Program(s.t, "testdata/shop/main.go"), "version": {Content: []byte("loaded")}}
	kindtest.Image(s.t, image, []string{"/shop"}, files)
	s.cluster.preload = "[" + image + "]"
	s.cluster.configure()
	s.cluster.up()
	s.image(image)
	s.up()
	s.answers("loaded")
	if r := s.run("promote", "shop", "--from", "dev", "--to", "prod"); r.code != 1 || !strings.Contains(r.stderr, "push it to a registry") {
		s.t.Errorf("promote: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
