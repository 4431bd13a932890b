package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/testing/kindtest"
)

// What follows runs kind's own code on a real docker, with Kubernetes in the
// nodes, where the images for that are on this machine: `make e2e-real` makes
// them. The tests share the daemon, and run one after the other.

// realKind is an environment on kind that is not simulated.
type realKind struct {
	*environment
	docker            *containers.Runtime
	stack             string
	images            realImages
	http, https       int
	registry, workers int
	preload, mirrors  string // of the stack's configuration, in YAML
	mirror            string // where everything comes from; "" for nowhere
}

type realImages struct{ node, registry string }

// realProjects are the projects that work without the provider of Kubernetes.
const realProjects = "kind-cluster,kind-registry,kubeconfig"

// newRealKind creates an environment without a cluster.
func newRealKind(t *testing.T, stack string) *realKind {
	t.Helper()
	docker := kindtest.Docker(t)
	images := realImages{
		node:     imageHere(t, docker, "kind:node_image", "E2E_NODE_IMAGE"),
		registry: imageHere(t, docker, "kind:registry_image", "E2E_REGISTRY_IMAGE"),
	}
	r := &realKind{environment: newEnvironment(t, embedded), docker: docker, stack: stack, images: images, http: freePort(t), https: freePort(t), registry: freePort(t)}
	r.env = append(r.env, "PULUMI_CONFIG_PASSPHRASE=test", "DOCKER_HOST="+os.Getenv("DOCKER_HOST"), "PULUMI_HOME="+t.TempDir())
	r.write("config/pulumi/environment", "PULUMI_STACK="+stack+"\n")
	r.configure()
	return r
}

// leavesNothing holds that docker is as it was before, when the test ends.
func (r *realKind) leavesNothing(t *testing.T) {
	t.Helper()
	before := kindtest.DockerTraces(t, r.docker)
	t.Cleanup(func() {
		clearAway(t, r.docker)
		if diff := cmp.Diff(before, kindtest.DockerTraces(t, r.docker)); diff != "" {
			t.Errorf("in docker (-before +after):\n%s", diff)
		}
	})
}

// imageHere returns an image that is on this machine: the one that a variable names,
// else the default, by its digest or by its tag alone. The test is skipped where
// there is none; one that is named has to be there.
func imageHere(t *testing.T, docker *containers.Runtime, key, variable string) string {
	t.Helper()
	wanted := defaultOf(t, key)
	tag, _, _ := strings.Cut(wanted, "@")
	if named := os.Getenv(variable); named != "" {
		if found, err := docker.HasImage(t.Context(), named); err != nil || !found {
			t.Fatalf("%s names %s, which is not on this machine (%v)", variable, named, err)
		}
		return named
	}
	for _, image := range []string{wanted, tag} {
		if found, err := docker.HasImage(t.Context(), image); err == nil && found {
			return image
		}
	}
	t.Skipf("the image is not on this machine (`make e2e-real` makes one; docker pull %s gets it; %s names another)", wanted, variable)
	return ""
}

// defaultOf returns the default of one of kind's keys.
func defaultOf(t *testing.T, key string) string {
	t.Helper()
	for _, project := range []model.Project{projects.KindCluster(), projects.KindRegistry()} {
		for _, declared := range project.Keys {
			if declared.Name == key {
				return fmt.Sprint(declared.Default)
			}
		}
	}
	t.Fatalf("there is no key %s", key)
	return ""
}

// configure writes the stack's configuration.
func (r *realKind) configure() {
	r.t.Helper()
	text := fmt.Sprintf("config:\n  kind:node_image: %q\n  kind:registry_image: %q\n  kind:http_port: %d\n  kind:https_port: %d\n  kind:registry_port: %d\n",
		r.images.node, r.images.registry, r.http, r.https, r.registry)
	for _, key := range []struct{ name, value string }{{"workers", fmt.Sprint(r.workers)}, {"preload", r.preload}, {"registry_mirrors", r.mirrors}} {
		if key.value != "" && key.value != "0" {
			text += "  kind:" + key.name + ": " + key.value + "\n"
		}
	}
	if r.mirror != "" {
		text += "  kubernetes:mirror: " + r.mirror + "\n"
	}
	r.write("config/pulumi/Pulumi."+r.stack+".yaml", text)
}

// in returns the same environment for a part of the test.
func (r *realKind) in(t *testing.T) *realKind {
	part, e := *r, *r.environment
	e.t, part.environment = t, &e
	return &part
}

// up stands up the cluster, the registry and the kubeconfig, and says which
// projects have changed.
func (r *realKind) up() []string {
	r.t.Helper()
	return changed(r.operate("up", "-p", "kind", "--only", realProjects))
}

// operate runs an operation that has to succeed.
func (e *environment) operate(args ...string) []event.Event {
	e.t.Helper()
	result := e.run(append(args, "--yes", "-o", "json")...)
	if result.code != 0 {
		e.t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), result.code, lastLines(result.stdout), result.stderr)
	}
	return decode(e.t, result.stdout)
}

func (r *realKind) cluster() string      { return "mara-" + r.stack }
func (r *realKind) controlPlane() string { return r.cluster() + "-control-plane" }

// address returns the address of the control plane's node.
func (r *realKind) address() string {
	r.t.Helper()
	return r.kubectl("get node " + r.controlPlane() + " --output=jsonpath={.status.addresses[0].address}")
}

// onNode runs a command on the control plane that has to succeed.
func (r *realKind) onNode(command ...string) string {
	r.t.Helper()
	output, err := r.docker.Exec(r.t.Context(), r.controlPlane(), nil, command...)
	if err != nil {
		r.t.Errorf("%s: %v\n%s", strings.Join(command, " "), err, output)
	}
	return strings.TrimSpace(output)
}

// kubectl runs kubectl on the control plane.
func (r *realKind) kubectl(words string) string {
	r.t.Helper()
	return r.onNode(append([]string{"kubectl"}, strings.Fields(words)...)...)
}

// containersOf returns the containers that bear the stack's name.
func (r *realKind) containersOf() []string {
	r.t.Helper()
	all, err := r.docker.List(context.Background(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, c := range all {
		if strings.HasPrefix(c.Name, r.cluster()+"-") {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// logged returns the warnings and notes of a run.
func logged(events []event.Event) string {
	var lines []string
	for _, e := range events {
		if e.Type == event.StepLog {
			lines = append(lines, e.Message)
		}
	}
	return strings.Join(lines, "\n")
}

// patience is what Kubernetes and docker get for what they do at a time of their
// own choice. It is long: machines are busy.
const patience = 5 * time.Minute

// eventually repeats a question until its answer is the one that is wanted.
func (r *realKind) eventually(want string, ask func() string) {
	r.t.Helper()
	for began := time.Now(); ; time.Sleep(time.Second) {
		got := ask()
		if got == want {
			return
		}
		if time.Since(began) > patience {
			r.t.Fatalf("it is %q after %s, want %q", got, patience, want)
		}
	}
}

// ask returns what kubectl answers on the control plane, or its error.
func (r *realKind) ask(words string) string {
	r.t.Helper()
	output, err := r.docker.Exec(r.t.Context(), r.controlPlane(), nil, append([]string{"kubectl"}, strings.Fields(words)...)...)
	if err != nil {
		return fmt.Sprintf("%s (%v)", output, err)
	}
	return strings.TrimSpace(output)
}

// ready waits until all nodes of the cluster are.
func (r *realKind) ready() {
	r.t.Helper()
	const met = "condition met"
	r.eventually(met, func() string {
		said := r.ask("wait --for=condition=Ready nodes --all --timeout=60s")
		for line := range strings.Lines(said) {
			if !strings.HasSuffix(strings.TrimSpace(line), met) {
				return said
			}
		}
		return met
	})
}

// clean waits until nothing has drifted: an API server that has just been started
// may not answer one question or the other.
func (r *realKind) clean(args ...string) {
	r.t.Helper()
	r.eventually("0", func() string {
		result := r.run(append([]string{"drift", "--exit-code"}, args...)...)
		if result.code == 0 {
			return "0"
		}
		return fmt.Sprintf("%d: %s%s", result.code, result.stdout, result.stderr)
	})
}

// realPart is a part of a test of one environment.
type realPart struct {
	name string
	test func(*realKind)
}

// runParts runs the parts of a test, one after the other, and returns the names of the parts that ran. It stops at the first
// that fails.
func (r *realKind) runParts(t *testing.T, parts []realPart) (ran []string) {
	for _, part := range parts {
		skipped := false
		if !t.Run(part.name, func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			part.test(r.in(t))
		}) {
			t.FailNow()
		}
		if !skipped {
			ran = append(ran, part.name)
		}
	}
	return ran
}

// TestRealLife takes an environment with Kubernetes in its nodes through its
// life. The parts follow one another.
func TestRealLife(t *testing.T) {
	r := newRealKind(t, "test")
	r.leavesNothing(t)
	defer r.run("destroy", "--yes", "-o", "json") // a cleanup's context has ended
	run := realRun{Command: "make e2e-real", Projects: strings.Split(realProjects, ",")}
	run.Parts = r.runParts(t, []realPart{
		{"cancelled while it is created", realCancelled},
		{"killed while it is created", realKilled},
		{"up", realUp},
	})
	run.Versions = r.versions()
	run.Parts = append(run.Parts, r.runParts(t, []realPart{
		{"nothing to do", realNothingToDo},
		{"a query", realQuery},
		{"the registry", realRegistry},
		{"preload and mirrors", realChange},
		{"a stopped node", realStopped},
		{"a paused node", realPaused},
		{"stop and start", realPower},
		{"dockerd restarted", realDockerd},
		{"the clients of Kubernetes", realClients},
		{"changes inside a Helm release", realDeepDrift},
		{"simulations that ask the cluster", realSimulated},
		{"another environment beside it", realBeside},
		{"destroy", realDestroy},
	})...)
	r.record(t, run)
}

// realUp makes the cluster, with something in it.
func realUp(r *realKind) {
	events := r.operate("up", "-p", "kind", "--only", realProjects)
	if got := changed(events); len(got) != 3 {
		r.t.Errorf("what has changed: %v\n%s", got, logged(events))
	}
	r.ready()
	r.kubectl("get configmap --namespace=kube-public local-registry-hosting")
	r.kubectl("create configmap kept --from-literal=key=value")
	// Controllers and kubelet make these when they come to it; Pods and queries need them.
	r.eventually("serviceaccount/default", func() string { return r.ask("get serviceaccount default --output=name") })
	r.eventually("pod/kube-apiserver-"+r.controlPlane(), func() string {
		return r.ask("get pods --namespace=kube-system --selector=component=kube-apiserver --output=name")
	})
	content, err := os.ReadFile(r.kubeconfigFile())
	if err != nil || !strings.Contains(string(content), "mara-kind-test") {
		r.t.Errorf("the cluster is not in the kubeconfig: %v\n%s", err, content)
	}
}

// realQuery asks the cluster itself, which the states know less of.
func realQuery(r *realKind) {
	const kept = `[.items[] | select(.source == "live" and .object.kind == "ConfigMap" and .name == "kept") | {environment, type, value: .object.data.key}]`
	got := r.run("query", kept, "--live", "-o", "json")
	if want := `"environment":"test","type":"kubernetes:core/v1:ConfigMap","value":"value"`; got.code != 0 || !strings.Contains(strings.Join(strings.Fields(got.stdout), ""), want) {
		r.t.Errorf("query --live: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := r.run("query", `kind("Pod") | select(.namespace == "kube-system") | .name`, "--live", "-o", "json"); got.code != 0 || !strings.Contains(got.stdout, "kube-apiserver-") {
		r.t.Errorf("Pods, which are in no state: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	r.kubectl("create namespace strange")
	defer r.kubectl("delete namespace strange")
	if got := r.run("query", "orphans", "-o", "json"); got.code != 0 || !strings.Contains(got.stdout, `"strange"`) {
		r.t.Errorf("orphans: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// keptSomething holds that the cluster is still the one that realUp has made.
func (r *realKind) keptSomething() {
	r.t.Helper()
	r.eventually("value", func() string { return r.ask("get configmap kept --output=jsonpath={.data.key}") }) // of another cluster it has none
}

func realNothingToDo(r *realKind) {
	if got := r.up(); len(got) > 0 {
		r.t.Errorf("what has changed: %v", got)
	}
	r.clean()
}

// realRegistry pushes an image, which a node pulls.
func realRegistry(r *realKind) {
	image := fmt.Sprintf("localhost:%d/mara-test-app:1", r.registry)
	kindtest.Image(r.t, image, []string{"/init"}, map[string]kindtest.File{"init": {Content: []byte("x")}})
	runDocker(r.t, "push", image)
	r.onNode("crictl", "pull", image)
}

// realChange changes what can be changed while the cluster runs: an image of this
// machine is in the nodes then, and another comes from a mirror.
func realChange(r *realKind) {
	kindtest.Image(r.t, "mara-test-preloaded:1", []string{"/init"}, map[string]kindtest.File{"init": {Content: []byte("x")}})
	changedConfig := *r
	changedConfig.preload = "[mara-test-preloaded:1]"
	changedConfig.mirrors = fmt.Sprintf(`{example.invalid: "http://%s-registry:5000"}`, r.cluster())
	changedConfig.configure()
	if diff := cmp.Diff([]string{"kind-cluster"}, r.up()); diff != "" {
		r.t.Errorf("what has changed (-want +got):\n%s", diff)
	}
	if images := r.onNode("crictl", "images"); !strings.Contains(images, "mara-test-preloaded:1") {
		r.t.Errorf("the image is not on the node:\n%s", images)
	}
	r.onNode("crictl", "pull", "example.invalid/mara-test-app:1") // realRegistry has pushed it
	r.keptSomething()
	if got := r.up(); len(got) > 0 {
		r.t.Errorf("a second up has changed %v", got)
	}
}

// realStopped stops the node: that is drift, and an up starts it, and waits until
// its API server answers.
func realStopped(r *realKind) { r.halted("stop", "stopped") }

// realPaused pauses the node. Its containers do not answer, which is no reason to
// make the cluster anew.
func realPaused(r *realKind) { r.halted("pause", "paused") }

// realPower stops and starts the environment's containers with the commands for that, twice.
func realPower(r *realKind) {
	said := func(want string, args ...string) {
		r.t.Helper()
		if result := r.run(args...); result.code != 0 || strings.TrimSpace(result.stdout) != want {
			r.t.Errorf("%v: exit code %d, want %q\n%s%s", args, result.code, want, result.stdout, result.stderr)
		}
	}
	both := []string{r.controlPlane(), r.cluster() + "-registry"}
	said("stopped "+strings.Join(both, ", "), "stop")
	said("nothing to stop", "stop")
	slices.Reverse(both)
	said("started "+strings.Join(both, ", "), "start")
	said("nothing to start", "start")
	r.keptSomething()
}

// halt stops or pauses a container. One that docker has signalled may end
// after docker has given up, and is stopped then.
func (r *realKind) halt(command, container string) {
	r.t.Helper()
	r.eventually("", func() string {
		output, err := exec.CommandContext(r.t.Context(), "docker", command, container).CombinedOutput()
		if err == nil {
			return ""
		}
		return string(output)
	})
}

// lose removes a container as a user who cleans up would.
func (r *realKind) lose(container string) {
	r.t.Helper()
	if err := r.docker.Remove(r.t.Context(), container); err != nil {
		r.t.Fatal(err)
	}
}

func (r *realKind) halted(command, state string) {
	r.halt(command, r.controlPlane())
	drift := r.run("drift", "--exit-code")
	if drift.code != 5 || !strings.Contains(drift.stdout, state) {
		r.t.Errorf("drift: exit code %d\n%s%s", drift.code, drift.stdout, drift.stderr)
	}
	events := r.operate("up", "--only", realProjects)
	if !strings.Contains(logged(events), "starting the stopped nodes "+r.controlPlane()) {
		r.t.Errorf("up does not say that it starts the node:\n%s", logged(events))
	}
	r.keptSomething()

	// Noted by a refresh, and mended by the update that follows from it.
	r.halt(command, r.controlPlane())
	r.operate("refresh")
	r.up()
	r.keptSomething()
	r.clean()
}

// realDockerd has the daemon restarted, as an upgrade of docker does.
func realDockerd(r *realKind) {
	file := os.Getenv("E2E_DOCKERD")
	if file == "" {
		r.t.Skip("this docker is not the test's own: it is not restarted")
	}
	before := r.dockerd(file)
	runProgram(r.t, "kill", before)
	r.eventually("true", func() string {
		now, err := os.ReadFile(file)
		_, unready := r.docker.Info(r.t.Context())
		return fmt.Sprint(err == nil && unready == nil && strings.TrimSpace(string(now)) != before)
	})
	r.operate("refresh")
	r.up()
	r.keptSomething()
	r.onNode("crictl", "pull", fmt.Sprintf("localhost:%d/mara-test-app:1", r.registry))
	r.clean()
}

func (r *realKind) dockerd(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

// realDestroy destroys everything with a stopped node, and again what is gone.
func realDestroy(r *realKind) {
	r.halt("stop", r.controlPlane())
	r.operate("destroy")
	if left := r.containersOf(); len(left) > 0 {
		r.t.Errorf("left: %v", left)
	}
	if content, err := os.ReadFile(r.kubeconfigFile()); err == nil && strings.Contains(string(content), "127.0.0.1") {
		r.t.Errorf("the cluster is still in the kubeconfig:\n%s", content)
	}
	r.operate("destroy")
}
