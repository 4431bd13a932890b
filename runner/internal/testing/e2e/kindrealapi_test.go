package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"

	"mara/providers"
	"mara/runner/internal/core/event"
	"mara/runner/internal/kube/examine"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/testing/helmdrifttest"
)

// kubeconfigFile returns the path of the kubeconfig that the runner has written for the user.
func (r *realKind) kubeconfigFile() string { return filepath.Join(r.home, ".kube", "config") }

// realSimulated has this API server check the Kubernetes objects of all providers
// while their clouds are simulated. Charts are not available: that is reported.
func realSimulated(r *realKind) {
	up := func(want int, provider string) []event.Event {
		r.t.Helper()
		return newEnvironment(r.t, embedded).simulate(want, "up", "-p", provider, "--simulate-cluster", r.kubeconfigFile())
	}
	for _, provider := range providers.Names() {
		up(0, provider)
	}
	if got := r.kubectl("get deployments --output=name"); got != "" {
		r.t.Errorf("a check has made %s", got)
	}

	r.kubectl("create quota few --hard=count/deployments.apps=0")
	defer r.kubectl("delete quota few")
	// Until its controller has counted, the quota refuses everything with other words.
	r.eventually("0/0", func() string {
		return r.ask(`get quota few --output=jsonpath={.status.used.count/deployments\.apps}/{.status.hard.count/deployments\.apps}`)
	})
	text := finished(up(1, "kind"))["bank-of-anthos"].Error
	if !strings.Contains(text, "exceeded quota: few") {
		r.t.Errorf("bank-of-anthos failed with %q, and nothing of the quota", text)
	}
}

// installed is what a release of Helm's has installed.
const installed = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {size: small}
---
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {selector: {app: shop}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 0
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: main, image: "mara-test-app:none"}]}
`

// realDeepDrift compares a release with what is in this cluster. Its objects and
// its record are made by hand, for Helm is not here.
func realDeepDrift(r *realKind) {
	r.apply(installed)
	r.apply(fmt.Sprintf("apiVersion: v1\nkind: Secret\ntype: helm.sh/release.v1\nmetadata:\n  name: sh.helm.release.v1.shop.v1\n"+
		"  labels: {owner: helm, name: shop, version: '1', status: deployed}\nstringData: {release: %s}\n", helmdrifttest.Record(r.t, "shop", installed)))
	content, err := os.ReadFile(r.kubeconfigFile())
	if err != nil {
		r.t.Fatal(err)
	}
	cluster, err := kubeapi.Connect(content, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	compare := func(when string, want ...examine.Difference) {
		r.t.Helper()
		got, err := examine.Release(r.t.Context(), cluster, "default", "shop")
		if err != nil {
			r.t.Fatal(err)
		}
		if diff := cmp.Diff(append([]examine.Difference{}, want...), got); diff != "" {
			r.t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	compare("defaults that the server sets are no difference")
	r.kubectl(`patch configmap settings --patch={"data":{"size":"large"}}`)
	r.kubectl("delete service shop")
	r.kubectl(`patch deployment shop --type=json --patch=[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"other"}]`)
	compare("after others have changed it",
		examine.Difference{Kind: "ConfigMap", Name: "default/settings", Fields: []string{"data.size"}},
		examine.Difference{Kind: "Service", Name: "default/shop", Missing: true},
		examine.Difference{Kind: "Deployment", Name: "default/shop", Fields: []string{"spec.template.spec.containers[0].image"}})
	r.kubectl("delete configmap/settings deployment/shop secret/sh.helm.release.v1.shop.v1")
}
