package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/providers"
)

// onExisting is mara.yaml of an environment on a cluster that is there already, with everything optional that it can have.
const onExisting = `providers:
  cluster:
    without: [bank-of-anthos]
    with: [metrics-server, guardrails, access, dashboard, external-dns, backup]
applications:
  shop:
    image: registry.example.com/shop:1.2.3
    port: 3000
    host: shop.example.com
    replicas: {min: 2, max: 4}
    secrets: [DATABASE_URL]
    env: {LOG_LEVEL: info}
    files: {/etc/shop.conf: "size: 3\n"}
    before: [./migrate, up]
    metrics: /metrics
`

// existing is an environment on the cluster of another one.
type existing struct {
	*environment
	cluster *realKind
	before  map[string]bool // objects in the cluster before
}

// newExisting creates an environment on a cluster, with a mara.yaml, more of its stack's configuration, and secrets.
func newExisting(t *testing.T, cluster *realKind, mara, more string, secrets map[string]string) *existing {
	t.Helper()
	e := newEnvironment(t, embedded)
	for _, variable := range cluster.env {
		if strings.HasPrefix(variable, "PULUMI_") {
			e.env = append(e.env, variable)
		}
	}
	e.write("mara.yaml", mara)
	e.write("config/pulumi/Pulumi.dev.yaml", fmt.Sprintf("config:\n  kubernetes:infra_type: cluster\n"+
		"  cluster:kubeconfig: %s\n  cluster:context: mara-kind-test\n%s", cluster.kubeconfigFile(), more))
	for key, value := range secrets {
		e.env = append(e.env, "VALUE="+value)
		if r := e.run("secrets", "set", key, "env:VALUE"); r.code != 0 {
			t.Fatalf("secrets set %s: exit code %d\n%s%s", key, r.code, r.stdout, r.stderr)
		}
	}
	return &existing{environment: e, cluster: cluster, before: cluster.objects()}
}

// newEverything creates an environment that has everything.
func newEverything(t *testing.T, cluster *realKind) *existing {
	t.Helper()
	more := fmt.Sprintf("  kubernetes:mirror: %s\n  external-dns:provider: cloudflare\n  external-dns:token_variable: CF_API_TOKEN\n"+
		"  backup:endpoint: http://%s-registry:5000\n%s", cluster.mirror, cluster.cluster(), strings.TrimPrefix(withAll, "\n"))
	return newExisting(t, cluster, onExisting, more, map[string]string{
		"external-dns:token": "a-token", "backup:access_key": "a-token", "backup:secret_key": "a-token", "shop:DATABASE_URL": shopSecret,
	})
}

// part returns a part of the test, with the environment for it.
func (e *existing) part(name string, test func(*existing)) realPart {
	return realPart{name, func(r *realKind) {
		in, environment := *e, *e.environment
		environment.t, in.environment, in.cluster = r.t, &environment, r
		test(&in)
	}}
}

// set sets a key of the stack's configuration.
func (e *existing) set(key, value string) {
	e.t.Helper()
	if r := e.run("config", "set", key, value); r.code != 0 {
		e.t.Fatalf("config set %s: exit code %d\n%s%s", key, r.code, r.stdout, r.stderr)
	}
}

// objects returns everything in a cluster but what comes and goes by itself.
func (r *realKind) objects() map[string]bool {
	r.t.Helper()
	found := map[string]bool{}
	const passing = "events|leases|pods|nodes|endpoints|endpointslices|replicasets|controllerrevisions"
	for _, scope := range []string{"true", "false"} {
		kinds := strings.Fields(r.kubectl("api-resources --verbs=list --output=name --namespaced=" + scope))
		kinds = slices.DeleteFunc(kinds, func(kind string) bool {
			name, _, _ := strings.Cut(kind, ".")
			return slices.Contains(strings.Split(passing, "|"), name)
		})
		const columns = " --all-namespaces --ignore-not-found --output=custom-columns=:.kind,:.metadata.namespace,:.metadata.name"
		for line := range strings.Lines(r.kubectl("get " + strings.Join(kinds, ",") + columns)) {
			if words := strings.Fields(line); len(words) == 3 {
				found[strings.Join(words, " ")] = true
			}
		}
	}
	return found
}

// up deploys everything, and returns the projects that have changed.
func (e *existing) up() []string {
	e.t.Helper()
	return changed(e.operate("up", "--generate-secrets"))
}

// TestProviderExisting deploys an environment with an application and all optional projects that need no cloud to a
// cluster that is there already, with Pulumi's own Kubernetes provider, and destroys it without a trace.
func TestProviderExisting(t *testing.T) {
	r := newProviderKind(t)
	defer r.run("destroy", "--yes", "--force-forget", "-o", "json")
	r.eventually("serviceaccount/default", func() string { return r.ask("get serviceaccount default --output=name") })
	e := newEverything(t, r)
	run := realRun{Command: "make e2e-provider", Provider: "cluster", Versions: r.providerVersions()}
	p, err := providers.ByName("cluster")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range slices.Concat(p.Steps, p.Optional.Steps) {
		if name := step.Project.Name; name != "bank-of-anthos" && !strings.HasPrefix(name, "kic-image") {
			run.Projects = append(run.Projects, name)
		}
	}
	run.Parts = r.runParts(t, []realPart{
		e.part("what the cluster answers", existingAsked),
		e.part("up", existingUp),
		e.part("nothing to do", existingNothing),
		e.part("what groups may do", existingRoles),
		e.part("a kubeconfig that expires", existingKubeconfig),
		e.part("a new image of an application", existingImage),
		e.part("an application that becomes a project of one's own", existingEject),
		e.part("destroy without a trace", existingDestroy),
	})
	record(t, run)
}

func existingAsked(e *existing) {
	for key, want := range map[string]string{
		"cluster:entry": "node-ports (asked from the cluster", "cluster:distribution": "kind (asked from the cluster",
		"cluster:small": "true (asked from the cluster",
	} {
		if got := e.run("config", "explain", key); got.code != 0 || !strings.Contains(got.stdout, want) {
			e.t.Errorf("config explain %s does not say %q: %s%s", key, want, got.stdout, got.stderr)
		}
	}
}

func existingUp(e *existing) {
	got := e.up()
	for _, name := range []string{"certmgr", "prometheus", "shop", "metrics-server", "guardrails", "access", "dashboard", "external-dns", "backup"} {
		if !slices.Contains(got, name) {
			e.t.Errorf("it has changed %v, and not %s", got, name)
		}
	}
	if secret := e.cluster.kubectl("get secrets --namespace=shop --output=jsonpath={.items[*].data.DATABASE_URL}"); secret == "" {
		e.t.Error("the secret of the application is not in the cluster")
	}
	// The autoscaler adds the second Pod.
	e.cluster.eventually("2", func() string {
		const running = "get pods --namespace=shop --selector=app.kubernetes.io/name=shop --field-selector=status.phase=Running --output=name"
		return fmt.Sprint(len(strings.Fields(e.cluster.ask(running))))
	})
}

func existingNothing(e *existing) {
	if got := e.up(); len(got) > 0 {
		e.t.Errorf("a further up changes %v", got)
	}
	e.cluster.eventually("", func() string {
		if r := e.run("drift", "--exit-code"); r.code != 0 {
			return fmt.Sprintf("%d: %s%s", r.code, r.stdout, r.stderr)
		}
		return ""
	})
}

// existingRoles asks the API server what the groups of access:groups may do.
func existingRoles(e *existing) {
	for _, may := range []struct{ group, namespace, verb, want string }{
		{"platform", "default", "delete nodes", "yes"},
		{"team-a", "team-a", "create deployments.apps", "yes"},
		{"team-a", "team-a", "get secrets", "yes"},
		{"team-a", "team-a", "create servicemonitors.monitoring.coreos.com", "yes"},
		{"team-a", "team-a", "create rolebindings.rbac.authorization.k8s.io", "no"},
		{"team-a", "team-a", "delete resourcequotas", "no"},
		{"team-a", "team-a", "create networkpolicies.networking.k8s.io", "yes"},
		{"team-a", "default", "get pods", "no"},
	} {
		got := e.cluster.ask(fmt.Sprintf("auth can-i %s --namespace=%s --as=someone --as-group=%s", may.verb, may.namespace, may.group))
		if answer := strings.Fields(got); len(answer) == 0 || answer[0] != may.want {
			e.t.Errorf("may %s %s in %s: %q, want %s", may.group, may.verb, may.namespace, got, may.want)
		}
	}
}

// existingKubeconfig has a kubeconfig of a group made, and does with it what the group may do, and no more.
func existingKubeconfig(e *existing) {
	if r := e.run("access", "list"); r.code != 0 || !strings.Contains(r.stdout, "team-a") {
		e.t.Errorf("access list: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	file := filepath.Join(e.t.TempDir(), "team-a.yaml")
	if r := e.run("access", "kubeconfig", "team-a", "--for", "10m", "--file", file); r.code != 0 {
		e.t.Fatalf("access kubeconfig: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		e.t.Fatal(err)
	}
	group, err := connect(content)
	if err != nil {
		e.t.Fatal(err)
	}
	const maps = "api/v1/namespaces/team-a/configmaps"
	named := object{"metadata": object{"name": "made-by-team-a"}}
	if _, err := group.call(e.t.Context(), http.MethodPost, maps, asJSON, named); err != nil {
		e.t.Errorf("the group may not do what its role gives: %v", err)
	}
	if _, err := group.call(e.t.Context(), http.MethodDelete, maps+"/made-by-team-a", asJSON, nil); err != nil {
		e.t.Error(err)
	}
	if _, err := group.call(e.t.Context(), http.MethodGet, "api/v1/nodes", asJSON, nil); err == nil || !strings.Contains(err.Error(), "403") {
		e.t.Errorf("the group may list nodes: %v", err)
	}
}

func existingImage(e *existing) {
	e.set("shop:image", "registry.example.com/shop:1.3.0")
	if diff := cmp.Diff([]string{"shop"}, e.up()); diff != "" {
		e.t.Errorf("what has changed (-want +got):\n%s", diff)
	}
	if image := e.cluster.kubectl("get deployments --namespace=shop --output=jsonpath={.items[0].spec.template.spec.containers[0].image}"); !strings.HasSuffix(image, "/shop:1.3.0") {
		e.t.Errorf("the Deployment has the image %q", image)
	}
}

func existingEject(e *existing) {
	if r := e.run("eject", "shop"); r.code != 0 {
		e.t.Fatalf("eject: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if got := e.up(); len(got) > 0 {
		e.t.Errorf("the own project changes %v", got)
	}
}

func existingDestroy(e *existing) {
	// Nothing runs that would serve this API, and without its answer the API server removes no namespace.
	e.cluster.kubectl("delete apiservice v1beta1.metrics.k8s.io")
	e.destroy()
}

// destroy leaves the cluster as it was before.
func (e *existing) destroy() {
	e.t.Helper()
	e.operate("destroy")
	e.cluster.eventually("", func() string {
		var left []string
		after := e.cluster.objects()
		for object := range after {
			if !e.before[object] {
				left = append(left, object)
			}
		}
		for object := range e.before {
			if !after[object] {
				left = append(left, "lost: "+object)
			}
		}
		slices.Sort(left)
		return strings.Join(left, "\n")
	})
}
