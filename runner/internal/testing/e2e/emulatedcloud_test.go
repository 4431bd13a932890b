package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mara/runner/internal/run/event"
	"mara/runner/internal/testing/cloudtest"
	"mara/runner/internal/testing/scripttest"
)

// These tests take the path that is not simulated: real operations, with a provider that speaks with Linode's SDK, to a
// cloud that is emulated.

// linodePlugin builds the provider that stands in for Linode's, once.
var linodePlugin = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "plugin"); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", dir, "mara/runner/internal/testing/cloudtest/pulumi-resource-linode")
	output, err := build.CombinedOutput()
	if err != nil {
		_, _ = os.Stderr.Write(output)
	}
	return dir, err
})

const onlyCluster = "linode-lke,kubeconfig"

// emulatedCloud is an environment on an emulated cloud.
type emulatedCloud struct {
	*environment
	cloud *cloudtest.Cloud
}

func onEmulatedCloud(t *testing.T) emulatedCloud {
	t.Helper()
	plugin, err := linodePlugin()
	if err != nil {
		t.Fatal(err)
	}
	tools := scripttest.Directory(t, map[string]string{"kubectl": `echo '{"clientVersion": {"gitVersion": "v1.36.0"}}'`})
	e := newEnvironment(t, embedded)
	cloud := cloudtest.New(t)
	e.env = append(e.env, cloud.Env()...)
	e.env = append(e.env, "PATH="+strings.Join([]string{plugin, tools, os.Getenv("PATH")}, string(filepath.ListSeparator)),
		"PULUMI_CONFIG_PASSPHRASE="+ownPassphrase)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: linode\n")
	return emulatedCloud{e, cloud}
}

// operate runs an operation, which has to end with a code, and returns what it says.
func (e emulatedCloud) operate(want int, operation string, args ...string) (events []event.Event, said string) {
	e.t.Helper()
	all := append([]string{operation, "--only", onlyCluster, "--yes", "-o", "json"}, args...)
	r := e.run(all...)
	if r.code != want {
		e.t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(all, " "), r.code, want, lastLines(r.stdout), r.stderr)
	}
	return decode(e.t, r.stdout), r.stdout + r.stderr
}

// creations counts the requests for a new cluster since the last call.
func (e emulatedCloud) creations() int {
	count := 0
	for _, request := range e.cloud.Asked() {
		if request == "POST /v4/lke/clusters" {
			count++
		}
	}
	return count
}

// start starts an up, and returns once the cloud has been asked for the cluster.
func (e emulatedCloud) start() (cmd *exec.Cmd, output *strings.Builder) {
	e.t.Helper()
	cmd = e.command("up", "--only", onlyCluster, "--yes", "-o", "json")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	output = &strings.Builder{}
	lines := bufio.NewReader(stdout)
	asked := make(chan bool)
	go func() {
		for range 3000 {
			if len(e.cloud.Clusters()) > 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		close(asked)
	}()
	go func() { _, _ = io.Copy(output, lines) }()
	<-asked
	return cmd, output
}

// TestLifeOnAnEmulatedCloud: up with its hook, nothing to do, a cluster that was deleted by hand, destroy.
func TestLifeOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	e := onEmulatedCloud(t)
	e.cloud.ReadyAfter(2 * time.Second) // the provider waits for the kubeconfig
	e.operate(0, "up")
	first := e.cloud.Clusters()
	if len(first) != 1 || e.creations() != 1 {
		t.Fatalf("clusters: %v", first)
	}
	config, err := os.ReadFile(filepath.Join(e.home, ".kube", "config"))
	if err != nil || !strings.Contains(string(config), "https://"+first[0]+".us-ord-1.linodelke.net:443") {
		t.Errorf("the hook has written %q (%v)", config, err)
	}
	if events, _ := e.operate(0, "up"); len(changed(events)) > 0 || e.creations() > 0 {
		t.Errorf("the second up changes %v", changed(events))
	}
	e.cloud.Delete(t, "/v4/lke/clusters/"+first[0])
	if events, _ := e.operate(0, "refresh"); !slices.Contains(changed(events), "linode-lke") {
		t.Error("refresh does not find that the cluster is gone")
	}
	e.operate(0, "up")
	again := e.cloud.Clusters()
	if len(again) != 1 || again[0] == first[0] {
		t.Fatalf("after a deletion by hand: %v", again)
	}
	e.cloud.Delete(t, "/v4/lke/clusters/"+again[0]) // and no refresh follows
	if events, said := e.operate(0, "preview"); !slices.Contains(changed(events), "linode-lke") || !strings.Contains(said, "the cluster is gone") {
		t.Errorf("a preview does not see that the cluster is gone: %s", said)
	}
	if _, said := e.operate(0, "up"); !strings.Contains(said, "the cluster is gone") || len(e.cloud.Clusters()) != 1 {
		t.Errorf("an up does not stand up a cluster that is gone: %v\n%s", e.cloud.Clusters(), said)
	}
	e.operate(0, "destroy", "--leave-behind") // the emulated cluster has no API server to list load balancers
	if left := e.cloud.Clusters(); len(left) > 0 {
		t.Errorf("destroy leaves %v", left)
	}
}

// TestTroubleOnAnEmulatedCloud: what a cloud answers in trouble ends an up with its words, or is waited for; the next up
// resumes, and no cluster is created twice.
func TestTroubleOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	const limit = "Account Limit reached. Please open a support ticket."
	for _, test := range []struct {
		name  string
		fault cloudtest.Fault
		code  int
		want  string
	}{
		{"quota", cloudtest.Fault{Status: 400, Body: `{"errors":[{"reason":"` + limit + `"}]}`}, 1, limit},
		{"throttled", cloudtest.Fault{Status: 429, RetryAfter: "1", Times: 2}, 0, ""},
		{"in trouble", cloudtest.Fault{Status: 500, Times: 1}, 1, "Internal Server Error"},
		{"a page", cloudtest.Fault{Status: 502, Body: "<html><body>the proxy says hello", Times: 1}, 1, "502"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := onEmulatedCloud(t)
			test.fault.Path = "/v4/lke/clusters"
			e.cloud.Set(t, test.fault)
			if _, said := e.operate(test.code, "up"); !strings.Contains(said, test.want) {
				t.Errorf("no %q in %s", test.want, said)
			}
			e.cloud.Clear(t)
			e.operate(0, "up")
			if all := e.cloud.Clusters(); len(all) != 1 {
				t.Errorf("clusters: %v", all)
			}
		})
	}
}

// TestInterruptsOnAnEmulatedCloud: one Ctrl-C waits for the cluster, a second one cancels the wait; the cluster is known
// either way, and the next up does not make it again.
func TestInterruptsOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ready   time.Duration
		signals int
	}{"once": {3 * time.Second, 1}, "twice": {10 * time.Minute, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := onEmulatedCloud(t)
			e.cloud.ReadyAfter(test.ready)
			cmd, output := e.start()
			for range test.signals {
				_ = cmd.Process.Signal(syscall.SIGINT)
				time.Sleep(time.Second)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
				t.Errorf("exit code %d, %v\n%s", cmd.ProcessState.ExitCode(), err, output)
			}
			e.cloud.Ready()
			e.operate(0, "up")
			if all := e.cloud.Clusters(); len(all) != 1 || e.creations() != 1 {
				t.Errorf("clusters: %v", all)
			}
		})
	}
}

// TestCrashOnAnEmulatedCloud: where a runner is killed while the cluster is made, repair finds the cluster in the cloud by
// its name, and imports it.
func TestCrashOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	e := onEmulatedCloud(t)
	e.cloud.ReadyAfter(10 * time.Minute)
	cmd, _ := e.start()
	children := childrenOf(t, cmd)
	_ = cmd.Process.Kill()
	for _, child := range children {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	_ = cmd.Wait()
	e.cloud.ReadyAfter(0)
	e.cloud.Ready()
	if r := e.run("unlock", "-s", "dev", "--yes"); r.code != 0 {
		t.Fatalf("unlock: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("up", "--only", onlyCluster, "--yes"); r.code != 3 || !strings.Contains(r.stderr, "runner repair -s dev") {
		t.Fatalf("up after the crash: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("repair", "-s", "dev", "--yes"); r.code != 0 {
		t.Fatalf("repair: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.operate(0, "up")
	if all := e.cloud.Clusters(); len(all) != 1 || e.creations() != 1 {
		t.Errorf("clusters: %v", all)
	}
}
