package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/kube/examine"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/kube/kubeconfig"
	"mara/runner/internal/testing/kindtest"
)

// runProgram runs a program that has to succeed.
func runProgram(t *testing.T, name string, args ...string) {
	t.Helper()
	if output, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
}

// creating starts an up, and waits until kind has Kubernetes installed on the
// node, which takes a while. What it says can be read meanwhile.
func (r *realKind) creating() (*exec.Cmd, *lockedBuffer) {
	r.t.Helper()
	cmd := r.command("up", "-p", "kind", "--only", realProjects, "--yes")
	output := new(lockedBuffer)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < patience; time.Sleep(200 * time.Millisecond) {
		if _, err := r.docker.Exec(r.t.Context(), r.controlPlane(), nil, "test", "-e", "/etc/kubernetes/manifests/etcd.yaml"); err == nil {
			return cmd, output
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	r.t.Fatalf("there was no node in %s:\n%s", patience, output.String())
	return nil, nil
}

// lockedBuffer takes what a program says, and can be read meanwhile.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// realCancelled interrupts an up twice while Kubernetes is being installed: the
// incomplete cluster is removed at once.
func realCancelled(r *realKind) {
	cmd, output := r.creating()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		r.t.Fatal(err)
	}
	r.eventually("true", func() string { return fmt.Sprint(strings.Contains(output.String(), "interrupt again to cancel")) })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		r.t.Fatalf("it has ended already: %v\n%s", err, output.String())
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		r.t.Errorf("up: %v, want exit code 130", err)
	}
	r.checkNoProcess()
	if left := r.containersOf(); len(left) > 0 {
		r.t.Errorf("left: %v", left)
	}
}

// realKilled kills everything that an up has started while Kubernetes is being
// installed. The next runs say what to do; then realUp clears away what is left.
func realKilled(r *realKind) {
	cmd, _ := r.creating()
	for left := r.processes(); len(left) > 0; left = r.processes() { // one may start another meanwhile
		for pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = cmd.Wait()
	r.checkNoProcess()
	if got := r.containersOf(); !slices.Contains(got, r.controlPlane()) {
		r.t.Errorf("there is no half of a cluster: %v", got)
	}
	if again := r.run("up", "-p", "kind", "--only", realProjects, "--yes"); again.code != 4 || !strings.Contains(again.stderr, "`runner unlock -s test`") {
		r.t.Errorf("up: exit code %d\n%s%s", again.code, again.stdout, again.stderr)
	}
	if again := r.run("up", "--resume", "--yes"); again.code != 3 || !strings.Contains(again.stderr, "`runner repair -s test`") {
		r.t.Errorf("up --resume: exit code %d\n%s%s", again.code, again.stdout, again.stderr)
	}
	if repair := r.run("repair", "--yes"); repair.code != 0 || !strings.Contains(repair.stderr+repair.stdout, "kind:index:Cluster cluster (creating) is forgotten") {
		r.t.Errorf("repair: exit code %d\n%s%s", repair.code, repair.stdout, repair.stderr)
	}
}

// realClients has the parts of the runner that ask Kubernetes themselves ask this
// API server, with the kubeconfig that the runner has written.
func realClients(r *realKind) {
	content, err := os.ReadFile(r.kubeconfigFile())
	if err != nil {
		r.t.Fatal(err)
	}
	if err := kubeconfig.Probe(r.t.Context(), content, nil); err != nil {
		r.t.Errorf("the cluster does not answer: %v", err)
	}
	r.apply(`
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: LoadBalancer, ports: [{port: 80}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: imageless}
spec: {containers: [{name: main, image: "mara-test-app:none", imagePullPolicy: Never}]}
---
apiVersion: v1
kind: Pod
metadata: {name: homeless}
spec: {nodeSelector: {no: such}, containers: [{name: main, image: "mara-test-app:none"}]}
`)
	r.checkPods(content)
	r.checkDeprovision(content)
	r.kubectl("delete pod imageless homeless --now")
}

func (r *realKind) apply(manifest string) {
	r.t.Helper()
	if output, err := r.docker.Exec(r.t.Context(), r.controlPlane(), strings.NewReader(manifest), "kubectl", "apply", "-f", "-"); err != nil {
		r.t.Fatalf("kubectl apply: %v\n%s", err, output)
	}
}

// checkPods asks why Pods are not ready.
func (r *realKind) checkPods(content []byte) {
	r.t.Helper()
	cluster, err := kubeapi.Connect(content, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	wanted := []string{
		"Pod default/homeless is not ready: Unschedulable: ",
		"Pod default/imageless is not ready: container main: ErrImageNeverPull: ",
	}
	r.eventually("", func() string {
		lines, err := examine.Pods(r.t.Context(), cluster, "default")
		text := strings.Join(lines, "\n")
		for _, want := range wanted {
			if err != nil || !strings.Contains(text, want) {
				return fmt.Sprintf("%s (%v)", text, err)
			}
		}
		return ""
	})
}

// checkDeprovision waits for a load balancer and a volume that the cluster made.
func (r *realKind) checkDeprovision(content []byte) {
	r.t.Helper()
	volume := func() string { return r.kubectl("get pvc data --output=jsonpath={.status.phase}") }
	r.eventually("Bound", volume)
	var said []string
	cluster, err := kubeapi.Connect(content, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	err = examine.WaitUntilEmpty(r.t.Context(), cluster, func(text string) {
		if said = append(said, text); len(said) == 1 {
			r.kubectl("delete service/web pvc/data --wait=false")
			// The claim and its volume go when their controllers come to it.
			r.eventually("", func() string { return r.ask("get service/web pvc/data --ignore-not-found --output=name") })
		}
	})
	if err != nil {
		r.t.Error(err)
	}
	for _, want := range []string{"load balancer of service default/web", "of claim default/data"} {
		if len(said) == 0 || !strings.Contains(said[0], want) {
			r.t.Errorf("it says %q, and nothing of %q", said, want)
		}
	}
}

// realBeside stands up a second environment with a worker, loses the worker, which only
// another cluster makes up for, and destroys it again. Nothing of that touches the first one.
func realBeside(r *realKind) {
	before := kindtest.DockerTraces(r.t, r.docker)
	other := newRealKind(r.t, "testb")
	other.workers = 1
	other.configure()
	defer other.run("destroy", "--yes", "-o", "json")
	other.up()
	worker := other.cluster() + "-worker"
	want := []string{other.controlPlane(), other.cluster() + "-registry", worker}
	if diff := cmp.Diff(want, other.containersOf()); diff != "" {
		r.t.Errorf("containers (-want +got):\n%s", diff)
	}

	r.lose(worker)
	if drift := other.run("drift", "--exit-code"); drift.code != 5 {
		r.t.Errorf("drift without the worker: exit code %d\n%s%s", drift.code, drift.stdout, drift.stderr)
	}
	other.operate("refresh")
	up := []string{"up", "-p", "kind", "--only", realProjects}
	if refused := other.run(append(up, "--yes", "-o", "json")...); refused.code != 1 || !strings.Contains(refused.stdout, "workers changes") {
		r.t.Errorf("an up that replaces the cluster: exit code %d\n%s%s", refused.code, refused.stdout, refused.stderr)
	}
	other.operate(append(up, "--allow", "cluster")...)
	other.ready()
	if diff := cmp.Diff(want, other.containersOf()); diff != "" {
		r.t.Errorf("containers after the worker was lost (-want +got):\n%s", diff)
	}
	r.keptSomething()

	r.halt("stop", worker)
	other.operate("destroy")
	if diff := cmp.Diff(before, kindtest.DockerTraces(r.t, r.docker)); diff != "" {
		r.t.Errorf("in docker (-before +after):\n%s", diff)
	}
	r.keptSomething()
}

// TestRealLost removes the cluster behind the runner's back.
func TestRealLost(t *testing.T) {
	r := newRealKind(t, "test")
	r.leavesNothing(t)
	defer r.run("destroy", "--yes", "-o", "json")
	r.up()
	run := realRun{
		Command: "make e2e-real", Projects: strings.Split(realProjects, ","), Versions: r.versions(),
		Parts: []string{"drift, refresh and up after the cluster was deleted by hand", "destroy after the cluster was deleted by hand"},
	}
	r.lose(r.controlPlane())
	if drift := r.run("drift", "--exit-code"); drift.code != 5 || !strings.Contains(drift.stdout, "gone: kind:index:Cluster") {
		t.Errorf("drift: exit code %d\n%s%s", drift.code, drift.stdout, drift.stderr)
	}
	r.operate("refresh")
	if got := r.up(); !slices.Contains(got, "kind-cluster") {
		t.Errorf("what has changed: %v", got)
	}
	r.lose(r.controlPlane())
	r.operate("destroy")
	if left := r.containersOf(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	r.record(t, run)
}
