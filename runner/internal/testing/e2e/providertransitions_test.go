package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"mara/runner/internal/testing/kubetest"
)

// inAPIServer is what applications find in the cluster: volumes that grow, a Gateway and the definition of its routes.
const inAPIServer = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: a, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: example.com/stand-in
allowVolumeExpansion: true
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: httproutes.gateway.networking.k8s.io
  annotations: {api-approved.kubernetes.io: https://github.com/kubernetes-sigs/gateway-api/pull/2997}
spec:
  group: gateway.networking.k8s.io
  names: {kind: HTTPRoute, plural: httproutes, singular: httproute}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gateways.gateway.networking.k8s.io
  annotations: {api-approved.kubernetes.io: https://github.com/kubernetes-sigs/gateway-api/pull/2997}
spec:
  group: gateway.networking.k8s.io
  names: {kind: Gateway, plural: gateways, singular: gateway}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: v1
kind: Namespace
metadata: {name: infra}
`

const someGateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: infra}
spec: {gatewayClassName: standin, listeners: [{name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}]}
`

// TestProviderTransitions makes the transitions at a real API server, with Kubernetes' own controllers and scheduler and with Pulumi's
// own provider, and counts the Pods that are ready and the addresses of the Service at every moment. A stand-in says that Pods
// are ready, and makes and enlarges volumes. Ingresses are not part of it, because their controller is a chart.
func TestProviderTransitions(t *testing.T) {
	cluster, provider := newAPIServer(t)
	run := realRun{Command: "MARA_KUBE=PROGRAM make e2e-provider", Provider: "cluster", Projects: []string{"kubeconfig"}, Versions: cluster.versions()}
	for _, change := range transitions() {
		t.Run(change.name, func(t *testing.T) {
			if strings.Contains(change.from+change.to, "host:") && !strings.Contains(change.to, "gateway:") {
				t.Skip("it needs the chart of the ingress controller")
			}
			if strings.Contains(change.from, "host:") { // from an Ingress
				change.from = ""
			}
			run.Parts = append(run.Parts, change.name)
			c := newShop(t, change, fmt.Sprintf("  cluster:kubeconfig: %s\n  cluster:context: c\n", cluster.Kubeconfig))
			c.env = append(c.env, providerHome(t, provider))
			defer func() {
				for _, command := range []string{"destroy --yes --orphans", "destroy --yes"} {
					if r := c.run(strings.Fields(command)...); r.code != 0 {
						t.Errorf("%s: exit code %d\n%s%s", command, r.code, lastLines(r.stdout), r.stderr)
					}
				}
			}()
			c.up()
			pods := countPods(t, cluster)
			before := pods.begin()
			if before.pods == 0 || before.addresses != before.pods {
				t.Fatalf("before the change: %+v", before)
			}
			flags := c.change(change)
			if change.refused != "" {
				c.refuses(change.refused, flags...)
				return
			}
			events, _ := c.up(flags...)
			if change.becomes == "" {
				t.Log("happened:", happenedTo("shop", events))
			}
			after, lowest := pods.settled(), pods.lowest
			t.Logf("before %+v, after %+v, lowest %+v", before, after, lowest)
			needed := ready{pods: min(before.pods, after.pods) - change.away, addresses: min(before.addresses, after.addresses) - change.away}
			if lowest.pods < needed.pods || lowest.addresses < needed.addresses {
				t.Errorf("at the worst moment %+v, want at least %+v", lowest, needed)
			}
			if change.becomes == "" {
				if again := changed(c.operate("preview", "--only", "+shop")); len(again) > 0 && change.with == "" {
					t.Errorf("a preview after it changes %v", again)
				}
			}
		})
	}
	record(t, run)
}

// apiServer is a real cluster without nodes: a stand-in says that Pods are ready, and makes volumes.
type apiServer struct{ kubetest.Cluster }

// newAPIServer starts one for Pulumi's own Kubernetes provider, and returns that, too.
func newAPIServer(t *testing.T) (server apiServer, provider string) {
	t.Helper()
	provider = os.Getenv("E2E_PROVIDER")
	if provider == "" {
		t.Skip("E2E_PROVIDER does not name Pulumi's Kubernetes provider; CONTRIBUTING.md says how to run this")
	}
	cluster := kubetest.Start(t)
	cluster.StartControllers()
	startStandIn(t, cluster.Kubeconfig)
	cluster.Apply(inAPIServer)
	cluster.Establish()
	cluster.Apply(someGateway)
	return apiServer{cluster}, provider
}

// versions returns what a test ran with.
func (s apiServer) versions() map[string]string {
	var said struct{ ServerVersion struct{ GitVersion string } }
	_ = json.Unmarshal([]byte(s.Kubectl("version", "-o", "json")), &said)
	return map[string]string{"Kubernetes": said.ServerVersion.GitVersion + ", without nodes", "Pulumi's Kubernetes provider": providerVersion()}
}

// ready is how many Pods of the application are ready, and how many of them its Service leads to.
type ready struct{ pods, addresses int }

// podCount follows an application's Pods and its Service's addresses.
type podCount struct {
	t      *testing.T
	mu     sync.Mutex
	pods   map[string]bool // that are ready, by name
	slices map[string]int  // addresses that are ready
	lowest ready           // since begin
}

// countPods follows the application until the test ends.
func countPods(t *testing.T, cluster apiServer) *podCount {
	t.Helper()
	c := &podCount{t: t, pods: map[string]bool{}, slices: map[string]int{}}
	content, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	n, err := connect(content)
	if err != nil {
		t.Fatal(err)
	}
	n.client.Timeout = 0
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	t.Cleanup(func() { cancel(); following.Wait() })
	for path, look := range map[string]func(name string, gone bool, o object){
		"api/v1/namespaces/shop/pods":                             c.lookAtPod,
		"apis/discovery.k8s.io/v1/namespaces/shop/endpointslices": c.lookAtSlice,
	} {
		following.Go(func() {
			if err := n.watch(ctx, path, look); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	return c
}

// watch tells of each change of the objects in a list, until the context ends.
func (n *standInNode) watch(ctx context.Context, path string, look func(name string, gone bool, o object)) error {
	address := n.base.JoinPath(path)
	address.RawQuery = url.Values{"watch": {"1"}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return err
	}
	response, err := n.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	for decoder := json.NewDecoder(response.Body); ; {
		var event struct {
			Type   string
			Object object
		}
		if err := decoder.Decode(&event); err == io.EOF || err != nil {
			return err
		}
		meta, _ := event.Object["metadata"].(object)
		look(fmt.Sprint(meta["name"]), event.Type == "DELETED", event.Object)
	}
}

// lookAtPod counts a Pod if it is ready. Those of Jobs do not answer.
func (c *podCount) lookAtPod(name string, gone bool, pod object) {
	meta, _ := pod["metadata"].(object)
	status, _ := pod["status"].(object)
	is := false
	for _, condition := range list(status, "conditions") {
		is = is || condition["type"] == "Ready" && condition["status"] == "True"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pods[name] = is && !gone && meta["deletionTimestamp"] == nil
	c.count()
}

// lookAtSlice counts the addresses that a Service leads to.
func (c *podCount) lookAtSlice(name string, gone bool, slice object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slices[name] = 0
	for _, endpoint := range list(slice, "endpoints") {
		if conditions, _ := endpoint["conditions"].(object); conditions["ready"] != false && !gone {
			c.slices[name]++
		}
	}
	c.count()
}

// count returns what is ready now, and keeps the least. The caller holds the lock.
func (c *podCount) count() (now ready) {
	for _, is := range c.pods {
		if is {
			now.pods++
		}
	}
	for _, addresses := range c.slices {
		now.addresses += addresses
	}
	c.lowest = ready{min(c.lowest.pods, now.pods), min(c.lowest.addresses, now.addresses)}
	return now
}

// settled waits until nothing has changed for two seconds, and returns what is ready.
func (c *podCount) settled() ready {
	c.t.Helper()
	last, since := ready{}, time.Now()
	for begun := time.Now(); time.Since(since) < 2*time.Second; time.Sleep(100 * time.Millisecond) {
		c.mu.Lock()
		now := c.count()
		c.mu.Unlock()
		if now != last || now.pods == 0 {
			last, since = now, time.Now()
		}
		if time.Since(begun) > time.Minute {
			c.t.Fatalf("it does not settle: %+v", now)
		}
	}
	return last
}

// begin waits until the application is settled, and counts the least from here on.
func (c *podCount) begin() ready {
	c.t.Helper()
	now := c.settled()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lowest = now
	return now
}
