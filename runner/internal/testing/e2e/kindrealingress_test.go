package e2e

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mara/projects"
)

// behindIngress is mara.yaml of an environment with an application behind the ingress controller.
const behindIngress = `providers:
  cluster:
    without: [bank-of-anthos, logstore, logagent, certmgr, prometheus, observability]
applications:
  shop:
    image: %s
    host: ` + shopHost + `
    port: 3000
    replicas: 2
    secrets: [DATABASE_URL]
    env: {LOG_LEVEL: info}
    files: {/etc/shop.conf: "size: 3\n"}
`

const shopHost = "shop.example.com"

// olderIngress is a version of the controller's chart before the catalogue's.
const olderIngress = "2.6.3"

// TestProviderIngress asks an application through the real ingress controller, with two replicas behind ports of the
// nodes, while its image, the controller's chart and the nodes change.
func TestProviderIngress(t *testing.T) {
	archive := os.Getenv("E2E_INGRESS")
	if archive == "" {
		t.Skip("there is no image of the ingress controller here: INGRESS names its archive for `make e2e-provider`")
	}
	r := newBareProviderKind(t)
	r.workers = 2
	defer r.run("destroy", "--yes", "--force-forget", "-o", "json")
	r.upFromMirror()
	r.ready()
	r.connectPods()
	mirrored := r.mirror + "/" + projects.KICImage
	runDocker(t, "load", "--input", archive)
	runDocker(t, "tag", projects.KICImage, mirrored)
	t.Cleanup(func() { runDocker(t, "image", "rm", mirrored, projects.KICImage) })
	runDocker(t, "push", mirrored)
	for _, version := range []string{"1", "2"} {
		r.pushShop(version)
	}
	e := newExisting(t, r, fmt.Sprintf(behindIngress, r.shopImage("1")), "  nginx:replicas: 2\n  kubernetes:mirror: "+r.mirror+"\n",
		map[string]string{"shop:DATABASE_URL": shopSecret})
	run := realRun{Command: "make e2e-provider", Provider: "cluster", Versions: r.providerVersions(), Projects: []string{
		"secrets", "kubeconfig", "cluster-connection", "ingress-controller-namespace", "ingress-controller",
	}}
	run.Versions["NGINX Ingress Controller"] = cmp.Or(os.Getenv("E2E_INGRESS_BUILT"), projects.KICImage)
	front := ""
	run.Parts = r.runParts(t, []realPart{
		e.part("an application answers behind two replicas of the ingress controller", func(e *existing) {
			e.up()
			e.certify()
			front = r.front(t)
			e.answers(front, "1")
			e.spread()
		}),
		e.part("a new image of the application, and no answer fails", func(e *existing) {
			e.set("shop:image", e.cluster.shopImage("2"))
			e.probe(front, func() { e.up() })
			e.answers(front, "2")
		}),
		e.part("another chart of the ingress controller, and no answer fails", func(e *existing) {
			e.set("nginx:chart_version", olderIngress)
			e.probe(front, func() {
				if got := e.up(); !slices.Equal(got, []string{"ingress-controller"}) {
					e.t.Errorf("an older chart changes %v", got)
				}
			})
		}),
		e.part("the chart is upgraded, and no answer fails", func(e *existing) { e.upgradeUnder(front) }),
		e.part("nodes are drained, and no answer fails", func(e *existing) {
			e.probe(front, func() {
				e.cluster.drainWorkers("deployment/shop --namespace=shop", "deployment/nginx-ingress-controller --namespace=nginx-ingress")
			})
		}),
		e.part("destroy without a trace", (*existing).destroy),
	})
	record(t, run)
}

// upgradeUnder upgrades what has newer versions, while the runner's own probe asks an address.
func (e *existing) upgradeUnder(address string) {
	e.t.Helper()
	r := e.run("upgrade", "--yes", "--probe", address)
	if r.code != 0 || !strings.Contains(r.stderr, "Step 1 of 1") || !strings.Contains(r.stderr, " times; 0 answers failed") {
		e.t.Fatalf("upgrade: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.t.Log(lastLines(r.stderr))
	// It has seen the end of the Pods that were replaced.
	_, text, _ := strings.Cut(r.stderr, "was asked ")
	count, _, _ := strings.Cut(text, " ")
	if asked, err := strconv.Atoi(count); err != nil || asked < 300 {
		e.t.Errorf("the probe has asked %q times", count)
	}
	if r := e.run("upgrade", "--yes"); r.code != 0 || !strings.Contains(r.stderr, "Nothing of what is deployed") {
		e.t.Errorf("a further upgrade: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// spread holds that the Pods of the ingress controller are on different nodes.
func (e *existing) spread() {
	e.t.Helper()
	nodes := strings.Fields(e.cluster.kubectl("get pods --namespace=nginx-ingress --output=jsonpath={.items[*].spec.nodeName}"))
	slices.Sort(nodes)
	if nodes = slices.Compact(nodes); len(nodes) != 2 {
		e.t.Errorf("the Pods of the ingress controller are on %v", nodes)
	}
}

// certify gives the application's Ingress a certificate: cert-manager, which would, is not there.
func (e *existing) certify() {
	e.t.Helper()
	certificate, key := selfSigned(e.t, &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{shopHost}, NotAfter: time.Now().Add(24 * time.Hour),
	})
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		e.t.Fatal(err)
	}
	indented := func(kind string, content []byte) string {
		text := strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})))
		return strings.ReplaceAll(text, "\n", "\n    ")
	}
	e.cluster.apply(fmt.Sprintf(`
apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata: {name: shop-tls, namespace: shop}
stringData:
  tls.crt: |
    %s
  tls.key: |
    %s
`, indented("CERTIFICATE", certificate), indented("PRIVATE KEY", private)))
}

// front returns an address that leads to the application as its host name would, through the port for HTTPS of the
// control plane's node, with a connection for each request.
func (r *realKind) front(t *testing.T) string {
	t.Helper()
	way := &url.URL{Scheme: "https", Host: r.address() + ":30443"}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(way)
			request.Out.Host = shopHost
		},
		Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{ServerName: shopHost, InsecureSkipVerify: true},
		},
	})
	t.Cleanup(server.Close)
	return server.URL
}
