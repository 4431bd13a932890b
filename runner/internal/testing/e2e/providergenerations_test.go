package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/testing/kubetest"
)

// TestProviderGenerations applies the rendered manifests of three generations of an application to a real API server, in the order
// that they are written in. In the end the cluster has what `up` of the last generation makes.
func TestProviderGenerations(t *testing.T) {
	cluster, provider := newAPIServer(t)
	run := realRun{Command: "MARA_KUBE=PROGRAM make e2e-provider", Provider: "cluster", Projects: []string{"kubeconfig"}, Versions: cluster.versions()}
	for name, generations := range map[string][3]string{
		"a Deployment": {
			"    image: ghcr.io/acme/shop:1.2.3\n    replicas: 3\n    env: {LEVEL: info}\n    files: {/etc/a: x}\n    secrets: [TOKEN]\n    before: [./migrate]\n",
			"    image: ghcr.io/acme/shop:1.3.0\n    replicas: 3\n    env: {LEVEL: debug}\n    files: {/etc/a: y}\n    secrets: [TOKEN]\n    before: [./migrate]\n",
			"    image: ghcr.io/acme/shop:1.3.0\n    replicas: {min: 2, max: 4}\n    port: 4000\n    files: {/etc/a: y, /etc/b: z}\n    secrets: [TOKEN]\n    before: [./migrate, up]\n",
		},
		"a StatefulSet": {
			"    image: ghcr.io/acme/shop:1.2.3\n    volume: {path: /data, size: 5Gi}\n    files: {/etc/a: x}\n",
			"    image: ghcr.io/acme/shop:1.3.0\n    volume: {path: /data, size: 5Gi}\n    files: {/etc/a: y}\n",
			"    image: ghcr.io/acme/shop:1.3.0\n    volume: {path: /data, size: 5Gi}\n    size: medium\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := cluster.For(t)
			run.Parts = append(run.Parts, "three generations of the manifests of "+name)
			c := newShop(t, transition{}, fmt.Sprintf("  cluster:kubeconfig: %s\n  cluster:context: c\n", cluster.Kubeconfig))
			c.env = append(c.env, providerHome(t, provider))
			for number, keys := range generations {
				c.declare(keys)
				if strings.Contains(keys, "TOKEN") {
					c.token(fmt.Sprint("token ", number))
				}
				dir := filepath.Join(c.root, fmt.Sprint("generation-", number))
				if r := c.run("render", "-s", "dev", "--out", dir); r.code != 0 {
					t.Fatalf("render: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
				}
				applyInOrder(t, cluster, dir)
			}
			applied := inShop(t, cluster)
			cluster.Kubectl("delete", "namespace", "shop", "--wait")
			defer func() {
				if r := c.run("destroy", "--yes"); r.code != 0 {
					t.Errorf("destroy: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
				}
			}()
			c.up()
			made := inShop(t, cluster)
			if len(made) < 5 {
				t.Errorf("up made only %v", slices.Collect(maps.Keys(made)))
			}
			for name, made := range made {
				if diff := cmp.Diff(made, applied[name]); diff != "" {
					t.Errorf("%s (-up +rendered):\n%s", name, diff)
				}
			}
		})
	}
	slices.Sort(run.Parts)
	record(t, run)
}

// secretInReadme is how the README of rendered manifests names a Secret, which it leaves to the user.
var secretInReadme = regexp.MustCompile(`Secret shop/(secrets-[0-9a-f]+) is a Secret`)

// applyInOrder does what the README of rendered manifests says: it makes the Secrets, applies the files up to the Jobs, waits for
// those, and applies the rest.
func applyInOrder(t *testing.T, cluster kubetest.Cluster, dir string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests in %s: %v", dir, err)
	}
	secret := secretInReadme.FindSubmatch(readme)
	if strings.Contains(string(readme), "Skipped") != (secret != nil) {
		t.Fatalf("README.md:\n%s", readme)
	}
	for _, file := range files { // Glob sorts them, and each has its number
		if secret != nil && strings.Contains(file, "-configmap-") {
			cluster.Apply(fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":%q,"namespace":"shop"},"stringData":{"TOKEN":"x"}}`, secret[1]))
		}
		cluster.Kubectl("apply", "--server-side", "-f", file)
		if strings.Contains(file, "-job-") {
			cluster.Kubectl("wait", "--for=condition=complete", "--timeout=60s", "-f", file)
		}
	}
	for _, file := range files {
		if strings.Contains(file, "-deployment-") || strings.Contains(file, "-statefulset-") {
			cluster.Kubectl("rollout", "status", "--timeout=60s", "-f", file)
		}
	}
}

// namedByContent is the end of a name that is made of what the object has, or at random.
var namedByContent = regexp.MustCompile(`-[0-9a-f]{8,10}\b`)

// inShop returns what the application has in the cluster, by kind and name, without what the API server adds.
func inShop(t *testing.T, cluster kubetest.Cluster) map[string]object {
	t.Helper()
	output := cluster.Kubectl("get", "--namespace=shop", "-o", "json",
		"deployments,statefulsets,services,networkpolicies,horizontalpodautoscalers,poddisruptionbudgets,serviceaccounts,configmaps")
	var all object
	if err := json.Unmarshal([]byte(namedByContent.ReplaceAllString(output, "")), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]object{}
	for _, o := range list(all, "items") {
		meta, _ := o["metadata"].(object)
		spec, _ := o["spec"].(object)
		if meta["name"] == "default" || meta["name"] == "kube-root-ca.crt" {
			continue
		}
		for _, added := range []string{"clusterIP", "clusterIPs"} {
			delete(spec, added)
		}
		if o["kind"] == "Deployment" { // an autoscaler counts from where it found it
			delete(spec, "replicas")
		}
		found[fmt.Sprint(o["kind"], " ", meta["name"])] = object{"labels": meta["labels"], "spec": spec, "data": o["data"]}
	}
	return found
}
