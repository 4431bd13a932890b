package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tenLines = `providers:
  cluster:
    without: [bank-of-anthos]
# The shop and what it needs.
applications:
  shop:
    image: ghcr.io/me/shop:1.2.3
    port: 3000
    host: shop.example.com
    replicas: {min: 2, max: 10}
    secrets: [DATABASE_URL]
    env: {LOG_LEVEL: info}
    health: /ready
    before: [./migrate, up]
    connects: [cache]
  cache:
    image: docker.io/library/redis:8
    port: 6379
    volume: {path: /data, size: 2Gi}
    files: {/etc/redis/redis.conf: "dir /data # ${HOME}\n"}
    command: [redis-server, /etc/redis/redis.conf]
`

// onTenLines returns an environment with two applications on a cluster that is there already.
func onTenLines(t *testing.T) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", tenLines)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: cluster\n  cluster:context: mine\n")
	return e
}

// part selects the applications and what they need.
const part = "+shop,+cache"

// TestApplication deploys applications, rolls out a new image of one of them, takes it over as a project of its own, and
// removes everything.
func TestApplication(t *testing.T) {
	t.Parallel()
	e := onTenLines(t)
	if got := finished(e.simulate(0, "up", "--only", part)); len(got) < 4 {
		t.Errorf("%d projects", len(got))
	}
	if again := changed(e.simulate(0, "preview", "--only", part)); len(again) > 0 {
		t.Errorf("a preview after the up changes %v", again)
	}
	if got := e.run("outputs", "shop", "-s", "dev", "--simulate"); !strings.Contains(got.stdout, "https://shop.example.com") {
		t.Errorf("outputs: %s%s", got.stdout, got.stderr)
	}
	// A new image is a new Job before the rollout, and nothing else changes.
	rollout := changed(e.simulate(0, "preview", "--only", part, "--config", "shop:image=ghcr.io/me/shop:1.3.0"))
	if strings.Join(rollout, " ") != "shop" {
		t.Errorf("a new image changes %v", rollout)
	}
	// A configured identity changes the connection to the cluster, and nothing else.
	for name, step := range finished(e.simulate(0, "preview", "--only", part, "--config", "cluster:identity=5b0c6f4e")) {
		if c := step.Changes; c != nil && (c.Create+c.Replace+c.Delete > 0 || c.Update > 1) || name == "shop" && (c == nil || c.Update != 1) {
			t.Errorf("an identity changes %s: %v", name, c)
		}
	}
	if got := e.run("eject", "shop"); got.code != 0 || !strings.Contains(got.stdout, "The project shop is in shop") {
		t.Fatalf("eject: %d %s%s", got.code, got.stdout, got.stderr)
	}
	mara, err := os.ReadFile(filepath.Join(e.root, "mara.yaml"))
	if err != nil || !strings.Contains(string(mara), "# The shop and what it needs.\n") || !strings.Contains(string(mara), "- path: shop\n") {
		t.Errorf("%v: %s", err, mara)
	}
	if again := changed(e.simulate(0, "preview", "--only", part)); len(again) > 0 {
		t.Errorf("a preview of the own project changes %v", again)
	}
	// Environments that are deployed without the line for an identity do not change by it.
	program, err := os.ReadFile(filepath.Join(e.root, "shop/Pulumi.yaml"))
	before, after, ok := strings.Cut(string(program), "      clusterIdentifier: ${kubeconfig.outputs[\"identity\"]}\n")
	if err != nil || !ok {
		t.Fatalf("no identity in the program: %v\n%s", err, program)
	}
	e.write("shop/Pulumi.yaml", before+after)
	if again := changed(e.simulate(0, "preview", "--only", part)); len(again) > 0 {
		t.Errorf("without a line for an identity, a preview changes %v", again)
	}
	if twice := e.run("eject", "shop"); twice.code != 2 || !strings.Contains(twice.stderr, `mara.yaml has no application "shop"`) {
		t.Errorf("eject again: %d %s", twice.code, twice.stderr)
	}
	if taken := e.run("eject", "cache", "--directory", "shop"); taken.code != 2 || !strings.Contains(taken.stderr, "shop is there already") {
		t.Errorf("eject into a directory that is there: %d %s", taken.code, taken.stderr)
	}
	e.simulate(0, "destroy")
}

// TestApplicationInPlaces: an application is in the plan, in plain manifests, among the secrets and in the checks like
// any other project.
func TestApplicationInPlaces(t *testing.T) {
	t.Parallel()
	e := onTenLines(t)
	for _, step := range []struct{ command, want string }{
		{"plan -s dev", "after ingress-controller, certmgr"},
		{"secrets list -s dev", "shop:DATABASE_URL"},
		{"config explain shop:LOG_LEVEL -s dev", "variable of shop"},
		{"config set shop:image ghcr.io/me/shop:2.0.0 -s dev", "shop:image"},
		{"config get shop:image -s dev", "ghcr.io/me/shop:2.0.0"},
		{"mirror list -s dev --only shop", "ghcr.io/me/shop:2.0.0"},
		{"check", ""},
	} {
		got := e.run(strings.Fields(step.command)...)
		if got.code != 0 || !strings.Contains(got.stdout+got.stderr, step.want) {
			t.Errorf("%s: %d\n%s%s", step.command, got.code, got.stdout, got.stderr)
		}
	}
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=a passphrase", "CONTENT=e30=")
	export := []string{"export", "operator", "-s", "dev", "--image", "registry.example.com/workspace:1", "--backend", "s3://bucket", "--out", "operator"}
	if got := e.run(export...); got.code == 0 || !strings.Contains(got.stderr, "a Pod has no file cluster:kubeconfig") {
		t.Errorf("export without a kubeconfig: %d %s%s", got.code, got.stdout, got.stderr)
	}
	if got := e.run("secrets", "set", "cluster:kubeconfig_content", "env:CONTENT", "-s", "dev"); got.code != 0 {
		t.Errorf("secrets set: %d %s%s", got.code, got.stdout, got.stderr)
	}
	if got := e.run(export...); got.code != 0 {
		t.Errorf("export: %d %s%s", got.code, got.stdout, got.stderr)
	}
	found := ""
	for _, content := range everyFileBelow(t, filepath.Join(e.root, "operator")) {
		found += string(content)
	}
	for _, want := range []string{"kind: Program", "DATABASE_URL", "ghcr.io/me/shop:2.0.0", "cluster:context", "cluster.kubeconfig_content"} {
		if !strings.Contains(found, want) {
			t.Errorf("the resources for the operator have no %s", want)
		}
	}
	e.write("mara.yaml", strings.Replace(tenLines, "connects: [cache]", "connects: [cahce]", 1))
	if got := e.run("check"); got.code == 0 || !strings.Contains(got.stdout+got.stderr,
		`mara.yaml:15: error: applications.shop.connects names "cahce", which is no application of this file; did you mean "cache"?`) {
		t.Errorf("check: %d %s%s", got.code, got.stdout, got.stderr)
	}
}
