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
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mara/runner/internal/feature/upgrade"
	"mara/runner/internal/testing/kindtest"
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
    patch: .before.properties.spec.activeDeadlineSeconds = 60
`

const shopSecret = "postgres://shop:hunter2@db/shop"

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
	r.pushShop("1")
	digest := r.pushShop("2")
	e := newExisting(t, r, fmt.Sprintf(onlyShop, r.shopImage("1")), "", map[string]string{"shop:DATABASE_URL": shopSecret})
	run := realRun{Command: "make e2e-provider", Provider: "cluster", Projects: []string{"secrets", "kubeconfig", "cluster-connection"},
		Versions: r.providerVersions()}
	run.Parts = r.runParts(t, []realPart{
		e.part("an application answers, with its variables, files and secrets", shopAnswers),
		e.part("a new image, and no answer fails", shopRollsOut),
		e.part("promoted by the digest of the index", func(e *existing) { shopPromoted(e, digest) }),
		e.part("the cluster's identity: another address of it, and another cluster", shopIdentity),
		e.part("nodes are drained, and no answer fails", shopDrained),
		e.part("an image that does not start", shopFails),
		e.part("an image without a registry is not promoted", shopLoaded),
		e.part("destroy without a trace", (*existing).destroy),
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
	makeShop(r.t, image+"-amd64", version)
	runDocker(r.t, "push", image+"-amd64")
	repository := fmt.Sprintf("http://localhost:%d/v2/shop/manifests/", r.registry)
	const single = "application/vnd.docker.distribution.manifest.v2+json"
	_, manifest := send(r.t, http.MethodGet, repository+version+"-amd64", single, nil)
	const several = "application/vnd.docker.distribution.manifest.list.v2+json"
	index, err := json.Marshal(object{"schemaVersion": 2, "mediaType": several, "manifests": []object{{
		"mediaType": single, "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(manifest)), "size": len(manifest),
		"platform": object{"architecture": "amd64", "os": "linux"},
	}}})
	if err != nil {
		r.t.Fatal(err)
	}
	header, _ := send(r.t, http.MethodPut, repository+version, several, index)
	return header.Get("Docker-Content-Digest")
}

// makeShop makes an image of the application.
func makeShop(t *testing.T, image, version string) {
	t.Helper()
	kindtest.Image(t, image, []string{"/shop"}, map[string]kindtest.File{
		"shop": kindtest.Program(t, "testdata/shop/main.go"), "version": {Content: []byte(version)},
	})
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
	return "http://" + r.address() + ":" + port + "/"
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

// answers holds that the application answers with a version at an address.
func (e *existing) answers(address, version string) {
	e.t.Helper()
	want := fmt.Sprintf("version %s, level info, secret %x, file size: 3\n", version, sha256.Sum256([]byte(shopSecret)))
	e.cluster.eventually(want, func() string { return get(address) })
}

// probe asks an address ten times a second while something happens, at least a thousand times, and holds that no answer
// has failed.
func (e *existing) probe(address string, meanwhile func()) {
	e.t.Helper()
	const enough = 1000
	probe := &upgrade.Probe{URL: address, Interval: 100 * time.Millisecond, Patience: 2 * time.Second}
	func() {
		ctx, cancel := context.WithCancel(e.t.Context())
		var asking sync.WaitGroup
		defer asking.Wait()
		defer cancel()
		asking.Go(func() { probe.Run(ctx) })
		meanwhile()
		for probe.Result().Asked < enough {
			time.Sleep(time.Second)
		}
	}()
	result := probe.Result()
	e.t.Log(result)
	if result.Failed > 0 {
		e.t.Error("answers failed")
	}
}

// shop returns where the application of the test answers.
func (e *existing) shop() string { return e.cluster.outside("shop") }

func shopAnswers(e *existing) {
	if got := e.up(); !slices.Contains(got, "shop") {
		e.t.Errorf("it has changed %v, and not shop", got)
	}
	e.cluster.expose("shop")
	e.answers(e.shop(), "1")
	if log := e.cluster.kubectl("logs --namespace=shop --selector=job-name --tail=-1"); !strings.Contains(log, "migrate done") {
		e.t.Errorf("the Job before the rollout says %q", log)
	}
	nodes := strings.Fields(e.cluster.kubectl("get pods --namespace=shop --selector=app.kubernetes.io/name=shop --output=jsonpath={.items[*].spec.nodeName}"))
	slices.Sort(nodes)
	if nodes = slices.Compact(nodes); len(nodes) != 2 {
		e.t.Errorf("both Pods are on %v", nodes)
	}
	if got := e.up(); len(got) > 0 {
		e.t.Errorf("a further up changes %v", got)
	}
}

func shopRollsOut(e *existing) {
	e.set("shop:image", e.cluster.shopImage("2"))
	e.probe(e.shop(), func() {
		if got := e.up(); !slices.Equal(got, []string{"shop"}) {
			e.t.Errorf("it has changed %v", got)
		}
		e.answers(e.shop(), "2")
	})
}

// shopPromoted gives another environment what runs here, and deploys it by its digest, which is the same image.
func shopPromoted(e *existing, digest string) {
	e.write("config/pulumi/Pulumi.prod.yaml", "config:\n  kubernetes:infra_type: cluster\n")
	r := e.run("promote", "shop", "--from", "dev", "--to", "prod")
	content, err := os.ReadFile(filepath.Join(e.root, "config/pulumi/Pulumi.prod.yaml"))
	want := "shop:image: " + e.cluster.shopImage("2") + "@" + digest
	if err != nil || r.code != 0 || !strings.Contains(string(content), want) {
		e.t.Fatalf("promote: exit code %d, want %q (%v)\n%s%s%s", r.code, want, err, content, r.stdout, r.stderr)
	}
	e.set("shop:image", strings.TrimPrefix(want, "shop:image: "))
	e.up()
	e.answers(e.shop(), "2")
}

// shopIdentity reaches the cluster at another address: with its identity, nothing is replaced. With the identity of
// another cluster, nothing is done.
func shopIdentity(e *existing) {
	const key = "cluster:identity"
	e.set(key, "another")
	if r := e.run("up", "--yes"); r.code == 0 || !strings.Contains(r.stdout+r.stderr, "it is another cluster") {
		e.t.Fatalf("an up of another cluster: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.set(key, e.cluster.kubectl("get namespace kube-system --output=jsonpath={.metadata.uid}"))
	before := e.cluster.kubectl("get deployment shop --namespace=shop --output=jsonpath={.metadata.uid}")
	e.probe(e.shop(), func() {
		e.connects()
		content, err := os.ReadFile(e.cluster.kubeconfigFile())
		if err != nil {
			e.t.Fatal(err)
		}
		moved := regexp.MustCompile(`https://127\.0\.0\.1:\d+`).ReplaceAll(content, []byte("https://"+e.cluster.address()+":6443"))
		e.write("moved.yaml", string(moved))
		e.set("cluster:kubeconfig", filepath.Join(e.root, "moved.yaml"))
		e.connects()
	})
	if after := e.cluster.kubectl("get deployment shop --namespace=shop --output=jsonpath={.metadata.uid}"); after != before {
		e.t.Error("the Deployment was replaced")
	}
}

// connects holds that an up changes the connection of the application to the cluster, and nothing else.
func (e *existing) connects() {
	e.t.Helper()
	changes := finished(e.operate("up"))["shop"].Changes
	if changes == nil || changes.Update != 1 || changes.Create+changes.Replace+changes.Delete > 0 {
		e.t.Errorf("it has changed %v", changes)
	}
}

// drainWorkers drains one worker after the other, as an upgrade of nodes does, and waits each time for workloads.
func (r *realKind) drainWorkers(workloads ...string) {
	r.t.Helper()
	for _, worker := range []string{"-worker", "-worker2"} {
		node := r.cluster() + worker
		r.kubectl("drain " + node + " --ignore-daemonsets --delete-emptydir-data --timeout=5m")
		for _, workload := range workloads {
			r.kubectl("rollout status " + workload + " --timeout=5m")
		}
		r.kubectl("uncordon " + node)
	}
}

func shopDrained(e *existing) {
	e.probe(e.shop(), func() {
		e.cluster.drainWorkers("deployment/shop --namespace=shop")
	})
	e.answers(e.shop(), "2")
}

// shopFails rolls out an image that does not exist: the Pods that answer stay, and the run says why it failed.
func shopFails(e *existing) {
	before := e.cluster.kubectl("get deployment shop --namespace=shop --output=jsonpath={.spec.template.spec.containers[0].image}")
	e.set("shop:image", e.cluster.shopImage("none"))
	e.probe(e.shop(), func() {
		if r := e.run("up", "--yes"); r.code != 1 || !strings.Contains(r.stdout+r.stderr, "shop:none") {
			e.t.Errorf("up: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		e.set("shop:image", before)
		e.up()
	})
	e.answers(e.shop(), "2")
}

// shopLoaded runs an image that was loaded into the nodes: no registry has it.
func shopLoaded(e *existing) {
	const image = "shop-loaded:1"
	makeShop(e.t, image, "loaded")
	e.cluster.preload = "[" + image + "]"
	e.cluster.configure()
	e.cluster.up()
	e.set("shop:image", image)
	e.up()
	e.answers(e.shop(), "loaded")
	if r := e.run("promote", "shop", "--from", "dev", "--to", "prod"); r.code != 1 || !strings.Contains(r.stderr, "push it to a registry") {
		e.t.Errorf("promote: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
