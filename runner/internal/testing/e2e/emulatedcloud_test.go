package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
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

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/projects/schemas"
	"mara/runner/internal/core/event"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/testing/cloudtest"
	"mara/runner/internal/testing/scripttest"
)

// These tests take the path that is not simulated: real operations, with a provider that speaks with Linode's SDK, to a
// cloud that is emulated. The provider stands in for Pulumi's own, unless E2E_LINODE names a directory that has it.

// linodePlugin returns the directory of the provider. It builds the one that stands in for Linode's once.
var linodePlugin = sync.OnceValues(func() (dir string, err error) {
	if dir := os.Getenv("E2E_LINODE"); dir != "" {
		return dir, nil
	}
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

// onEmulatedCloud returns an environment on an emulated cloud, whose states are at a place.
func onEmulatedCloud(t *testing.T, at place) emulatedCloud {
	t.Helper()
	plugin, err := linodePlugin()
	if err != nil {
		t.Fatal(err)
	}
	tools := scripttest.Directory(t, map[string]string{"kubectl": `echo '{"clientVersion": {"gitVersion": "v1.36.0"}}'`})
	e := newEnvironment(t, embedded)
	cloud := cloudtest.New(t)
	e.useStatesAt(at)
	e.env = append(e.env, cloud.Env()...)
	e.env = append(e.env, "PATH="+strings.Join([]string{plugin, tools, os.Getenv("PATH")}, string(filepath.ListSeparator)),
		"PULUMI_CONFIG_PASSPHRASE="+ownPassphrase)
	content := "config:\n  kubernetes:infra_type: linode\n"
	if isRealPlugin() { // it polls as if machines had to boot
		for _, key := range []string{"eventPollMs", "lkeEventPollMs", "lkeNodeReadyPollMs", "minRetryDelayMs", "maxRetryDelayMs"} {
			content += "  linode:" + key + ": 200\n"
		}
	}
	e.write("config/pulumi/Pulumi.dev.yaml", content)
	return emulatedCloud{e, cloud}
}

func isRealPlugin() bool { return os.Getenv("E2E_LINODE") != "" }

// recordOnEmulatedCloud writes down, at its end, what a test has done with Pulumi's own provider on the emulated cloud.
func recordOnEmulatedCloud(t *testing.T, parts ...string) {
	t.Helper()
	if !isRealPlugin() {
		return
	}
	t.Cleanup(func() {
		version := schemas.Versions()["linode"]
		if built := os.Getenv("E2E_LINODE_BUILT"); built != "" {
			version += " (" + built + ")"
		}
		record(t, realRun{Command: "make e2e-cloud PROVIDER=DIR", Provider: "linode", Kind: "emulated", Projects: []string{"linode-lke"},
			Parts: parts, Versions: map[string]string{"Pulumi's Linode provider": version}})
	})
}

// recordRequests keeps what the real provider has sent, for the tests that validate it by the cloud's description.
func (e emulatedCloud) recordRequests() {
	e.t.Helper()
	file := os.Getenv("E2E_RECORD")
	if !isRealPlugin() || file == "" {
		return
	}
	content, err := json.MarshalIndent(e.cloud.Sent(), "", "  ")
	if err != nil {
		e.t.Fatal(err)
	}
	name := "provider-linode-" + schemas.Versions()["linode"] + ".json"
	path := filepath.Join(filepath.Dir(file), "..", "scripts", "requests", "testdata", name)
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

// TestLinodePlugin: the provider has the version whose types the programs use.
func TestLinodePlugin(t *testing.T) {
	t.Parallel()
	dir, err := linodePlugin()
	if err != nil {
		t.Fatal(err)
	}
	plugin := exec.CommandContext(t.Context(), filepath.Join(dir, "pulumi-resource-linode"))
	stdout, err := plugin.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := plugin.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plugin.Process.Kill(); _ = plugin.Wait() }()
	port, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(port), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	info, err := pulumirpc.NewResourceProviderClient(connection).GetPluginInfo(t.Context(), &emptypb.Empty{})
	if want := schemas.Versions()["linode"]; err != nil || strings.TrimPrefix(info.GetVersion(), "v") != strings.TrimPrefix(want, "v") {
		t.Errorf("the provider has version %q, want %s (%v)", info.GetVersion(), want, err)
	}
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

// TestLifeOnAnEmulatedCloud: up with its hook, nothing to do, more nodes, a later Kubernetes, a cluster that was deleted
// by hand, destroy.
func TestLifeOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	long(t)
	recordOnEmulatedCloud(t, "up, and its kubeconfig", "nothing to do", "what the cloud offers, asked by doctor", "another number of nodes",
		"Kubernetes goes up by one minor version", "refresh and up after the cluster was deleted by hand",
		"up after the cluster was deleted by hand, without a refresh", "destroy")
	testLifeOnAnEmulatedCloud(t, inDirectory(t))
}

func testLifeOnAnEmulatedCloud(t *testing.T, at place) {
	e := onEmulatedCloud(t, at)
	e.cloud.ReadyAfter(2 * time.Second) // the provider waits for the kubeconfig
	older := []string{"--config", "lke:k8s_version=1.35"}
	e.operate(0, "up", older...)
	first := e.cloud.Clusters()
	if len(first) != 1 || e.creations() != 1 {
		t.Fatalf("clusters: %v", first)
	}
	config, err := os.ReadFile(filepath.Join(e.home, ".kube", "config"))
	if err != nil || !strings.Contains(string(config), e.cloud.ServerOf(first[0])) {
		t.Errorf("the hook has written %q (%v)", config, err)
	}
	if events, _ := e.operate(0, "up", older...); len(changed(events)) > 0 || e.creations() > 0 {
		t.Errorf("the second up changes %v", changed(events))
	}
	file := e.read("config/pulumi/Pulumi.dev.yaml")
	e.write("config/pulumi/Pulumi.dev.yaml", file+"  lke:k8s_version: \"1.34\"\n")
	found, _ := e.findings("up", "--only", onlyCluster)
	e.write("config/pulumi/Pulumi.dev.yaml", file)
	if offers := found["offers"]; offers.Status != preflight.Warning || !strings.Contains(offers.Findings[0].Remedy, "linode-lke is deployed and may keep it") {
		t.Errorf("the offers for what is deployed: %+v", offers)
	}
	e.operate(0, "up", append(older, "--config", "lke:node_count=4")...)
	if _, pools := e.cloud.Cluster(first[0]); len(pools) != 1 || fmt.Sprint(pools[0]["count"]) != "4" {
		t.Errorf("with four nodes the pools are %v", pools)
	}
	e.operate(0, "up")
	if cluster, pools := e.cloud.Cluster(first[0]); cluster["k8s_version"] != "1.36" || len(pools) != 1 || fmt.Sprint(pools[0]["count"]) != "3" {
		t.Errorf("the upgraded cluster is %v with %v", cluster, pools)
	}
	if e.creations() > 0 {
		t.Error("another cluster was made")
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
	e.operate(0, "destroy")
	if left := e.cloud.Clusters(); len(left) > 0 {
		t.Errorf("destroy leaves %v", left)
	}
	e.recordRequests()
}

// TestLoadBalancersOnAnEmulatedCloud: a cluster that has a load balancer is not destroyed; destroy waits for one that the
// cluster is removing.
func TestLoadBalancersOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	long(t)
	recordOnEmulatedCloud(t, "destroy refuses a cluster with a load balancer", "destroy waits until the cluster has removed it")
	const balancer = "load balancer of service default/shop"
	e := onEmulatedCloud(t, inDirectory(t))
	e.operate(0, "up")
	id := e.cloud.Clusters()[0]
	e.cloud.AddLoadBalancer(id, "shop")
	if _, said := e.operate(1, "destroy"); !strings.Contains(said, "the cluster would leave behind: "+balancer) || len(e.cloud.Clusters()) != 1 {
		t.Fatalf("clusters: %v\n%s", e.cloud.Clusters(), said)
	}
	e.cloud.Removing(id, "shop", 2)
	if _, said := e.operate(0, "destroy"); !strings.Contains(said, "waiting until the cluster has removed "+balancer) || len(e.cloud.Clusters()) > 0 {
		t.Errorf("clusters: %v\n%s", e.cloud.Clusters(), said)
	}
}

// TestTroubleOnAnEmulatedCloud: what a cloud answers in trouble ends an up with its words, or is waited for; the next up
// resumes, and no cluster is created twice.
func TestTroubleOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	long(t)
	recordOnEmulatedCloud(t, "a quota, and up again", "throttled for a while", "an error of the cloud, and up again", "a page of a proxy, and up again")
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
			e := onEmulatedCloud(t, inDirectory(t))
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

// TestOffersOnAnEmulatedCloud: before anything is made, an up and a preview say what the cloud does not offer; not of what
// is deployed, and nothing of a list that fails.
func TestOffersOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	long(t)
	const warning = `offers of Linode: lke:node_type is \"g6-standard-6\", which Linode does not offer in us-ord; did you mean \"g6-standard-2\"?`
	e := onEmulatedCloud(t, inDirectory(t))
	file := e.read("config/pulumi/Pulumi.dev.yaml")
	e.write("config/pulumi/Pulumi.dev.yaml", file+"  lke:node_type: g6-standard-6\n")
	e.cloud.Set(t, cloudtest.Fault{Path: "/v4/lke/versions", Status: 500})
	for _, operation := range []string{"preview", "up"} {
		if _, said := e.operate(0, operation); strings.Count(said, warning) != 1 || strings.Contains(said, "not compared") {
			t.Errorf("%s: %s", operation, said)
		}
	}
	if _, said := e.operate(0, "up", "--force"); strings.Contains(said, "offers of Linode") {
		t.Errorf("of what is deployed: %s", said)
	}
}

// TestSilenceOnAnEmulatedCloud: a provider that is throttled tries again and says nothing, so the runner asks the cloud,
// and says why. Then the cluster takes a minute.
func TestSilenceOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	long(t)
	recordOnEmulatedCloud(t, "throttled until the runner has asked the cloud for the reason, and has said it", "not ready for a minute")
	e := onEmulatedCloud(t, inDirectory(t))
	e.cloud.ReadyAfter(time.Minute) // once it was made
	e.cloud.Set(t, cloudtest.Fault{Status: 429, RetryAfter: "1"})
	cmd := e.command("up", "--only", onlyCluster, "--yes", "-o", "json", "--timeout", "3m")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := 0
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.Contains(lines.Text(), "Linode refuses: Too Many Requests (429); its provider tries again until it answers") {
			if said++; said == 1 {
				e.cloud.Clear(t)
			}
		}
	}
	if err := cmd.Wait(); err != nil || said == 0 || len(e.cloud.Clusters()) != 1 {
		t.Errorf("%v; said %d times; clusters: %v", err, said, e.cloud.Clusters())
	}
}

// TestInterruptsOnAnEmulatedCloud: one Ctrl-C waits for the cluster, a second one cancels the wait; the cluster is known
// either way, and the next up does not make it again.
func TestInterruptsOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	long(t)
	recordOnEmulatedCloud(t, "Ctrl-C once while the cluster is made, and up again", "Ctrl-C twice, and up again")
	for name, test := range map[string]func(*testing.T, place){
		"once": interruptedOnAnEmulatedCloud(3*time.Second, 1), "twice": interruptedOnAnEmulatedCloud(10*time.Minute, 2),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, inDirectory(t))
		})
	}
}

// interruptedOnAnEmulatedCloud returns a test that sends a number of interrupts to an up, whose cluster is ready after a while.
func interruptedOnAnEmulatedCloud(ready time.Duration, signals int) func(t *testing.T, at place) {
	return func(t *testing.T, at place) {
		e := onEmulatedCloud(t, at)
		e.cloud.ReadyAfter(ready)
		cmd, output := e.start()
		for range signals {
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
	}
}

// TestCrashOnAnEmulatedCloud: where a runner is killed while the cluster is made, repair finds the cluster in the cloud by
// its name, and imports it.
func TestCrashOnAnEmulatedCloud(t *testing.T) {
	t.Parallel()
	recordOnEmulatedCloud(t, "the runner and its processes are killed while the cluster is made, repair imports it, and up again")
	testCrashOnAnEmulatedCloud(t, inDirectory(t))
}

func testCrashOnAnEmulatedCloud(t *testing.T, at place) {
	e := onEmulatedCloud(t, at)
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
