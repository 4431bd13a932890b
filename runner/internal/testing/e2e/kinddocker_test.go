package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/kind/kindsdk"
	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindprovider"
	"mara/runner/internal/testing/kindtest"
	"mara/runner/internal/testing/scripttest"
)

// What follows runs on a real docker, with kind's own code, and pulls nothing:
// the nodes are containers of an image made here, whose programs only pretend
// to be Kubernetes. The tests share the daemon, and run one after the other.
const (
	dockerNode     = "mara-test-node:make-believe"
	dockerSlow     = "mara-test-node:slow"
	dockerRegistry = "mara-test-registry:make-believe"
	nodeProgram    = "../../machine/kindprovider/testdata/node/main.go"
)

// newDockerStack creates a stack on this machine's docker. Whatever a test leaves in
// docker, on failure too, is removed and fails it.
func newDockerStack(t *testing.T, node string) (*kindStack, *containers.Runtime) {
	t.Helper()
	docker := kindtest.Docker(t)
	unprivileged(t)
	before := kindtest.DockerTraces(t, docker)
	home := t.TempDir()
	t.Setenv("KUBECONFIG", filepath.Join(home, "kubeconfig"))
	s := newKindStackOn(t, kindprovider.OpenMachine)
	s.cluster.Name, s.cluster.NodeImage = pulumi.String("mara-test"), pulumi.String(node)
	s.cluster.HTTPPort, s.cluster.HTTPSPort = pulumi.Int(freePort(t)), nil
	t.Cleanup(func() {
		clearAway(t, docker)
		if diff := cmp.Diff(before, kindtest.DockerTraces(t, docker)); diff != "" {
			t.Errorf("in docker (-before +after):\n%s", diff)
		}
		if _, err := os.Stat(filepath.Join(home, "kubeconfig")); err == nil {
			t.Error("the user's kubeconfig was written to")
		}
	})
	return s, docker
}

// unprivileged puts a docker on the PATH that starts nothing privileged: these
// nodes need no privileges, and a daemon that is itself confined gives none.
func unprivileged(t *testing.T) {
	t.Helper()
	real, err := exec.LookPath("docker")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "n=$#\nwhile [ $n -gt 0 ]; do a=$1; shift; [ \"$a\" = --privileged ] || set -- \"$@\" \"$a\"; n=$((n-1)); done\n" +
		"exec " + real + " \"$@\""
	scripttest.Write(t, filepath.Join(dir, "docker"), script)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// clearAway removes what a test has left.
func clearAway(t *testing.T, docker *containers.Runtime) {
	ctx := context.Background()
	all, err := docker.List(ctx, "")
	if err != nil {
		t.Error(err)
	}
	for _, c := range all {
		if strings.HasPrefix(c.Name, "mara-test") {
			t.Errorf("%s is left", c.Name)
			_ = docker.Remove(ctx, c.Name)
		}
	}
	_ = docker.RemoveVolume(ctx, "mara-test-registry")
}

// The ports of freePort: where they begin in this process, and how many it has
// given away.
var (
	firstPort  = 20_000 + rand.IntN(10_000)
	portsGiven atomic.Int64
)

// freePort returns a port that nothing listens on and no other test has. It is below
// the ephemeral ports, because engines open many connections.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := firstPort + int(portsGiven.Add(1))
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatal("there is no free port")
	return 0
}

// TestDockerLifecycle takes a cluster and a registry through their lives.
func TestDockerLifecycle(t *testing.T) {
	s, docker := newDockerStack(t, dockerNode)
	kindtest.NodeImage(t, dockerNode, nodeProgram, false)
	image := registryOfMachine(t, docker)
	kindtest.Image(t, "mara-test-app:1", []string{"/init"}, map[string]kindtest.File{"init": {Content: []byte("x")}})
	s.cluster.Workers = pulumi.Int(1)
	s.registry = &kindsdk.RegistryArgs{
		Name: pulumi.String("mara-test-registry"), Image: pulumi.String(image), HostPort: pulumi.Int(freePort(t)),
	}
	up := s.up(t.Context())
	s.works(up, "Cluster create", "Registry create")
	kubeconfig, _ := up.outputs["kubeconfig"].Value.(string)
	if !strings.Contains(kubeconfig, "current-context: kind-mara-test") {
		t.Errorf("the kubeconfig is %q", kubeconfig)
	}
	endpoint, _ := up.outputs["endpoint"].Value.(string)
	if !strings.HasPrefix(endpoint, "https://127.0.0.1:") || endpoint == "https://127.0.0.1:0" {
		t.Errorf("the endpoint is %s", endpoint)
	}
	hosts := "/etc/containerd/certs.d/" + up.outputs["registry"].Value.(string) + "/hosts.toml"
	for _, node := range []string{"mara-test-control-plane", "mara-test-worker"} {
		if text, err := docker.Exec(t.Context(), node, nil, "cat", hosts); err != nil || !strings.Contains(text, "http://mara-test-registry:5000") {
			t.Errorf("%s: %q, %v", node, text, err)
		}
	}
	s.works(s.up(t.Context()))
	s.works(s.refresh(), "Cluster refresh", "Registry refresh")

	s.cluster.Preload = pulumi.StringArray{pulumi.String("mara-test-app:1")}
	s.works(s.up(t.Context()), "Cluster update")
	if text, err := docker.Exec(t.Context(), "mara-test-worker", nil, "cat", "/kind/loaded"); err != nil || text == "" {
		t.Errorf("the image was not loaded: %q, %v", text, err)
	}

	// What is pushed outlives the container.
	pushed := up.outputs["registry"].Value.(string) + "/mara-test-app:1"
	if image != dockerRegistry {
		runDocker(t, "tag", "mara-test-app:1", pushed)
		runDocker(t, "push", pushed)
		runDocker(t, "image", "rm", pushed)
		runDocker(t, "rm", "--force", "mara-test-registry")
		s.works(s.refresh(), "Cluster refresh", "Registry refresh")
		s.works(s.up(t.Context()), "Registry create")
		runDocker(t, "pull", pushed)
		runDocker(t, "image", "rm", pushed)
	}

	// Broken by hand, and healed.
	runDocker(t, "stop", "mara-test-registry")
	runDocker(t, "network", "disconnect", "kind", "mara-test-registry")
	s.refresh()
	s.works(s.up(t.Context()), "Registry update")
	s.works(s.up(t.Context()))

	// Deleted by hand, and made anew.
	if err := docker.Remove(t.Context(), "mara-test-control-plane", "mara-test-worker"); err != nil {
		t.Fatal(err)
	}
	s.works(s.refresh(), "Cluster refresh", "Registry refresh")
	s.works(s.up(t.Context()), "Cluster create", "Registry update")
	s.works(s.destroy(), "Registry delete", "Cluster delete")
}

// runDocker runs a docker command that has to succeed.
func runDocker(t *testing.T, args ...string) {
	t.Helper()
	if output, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
		t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// registryOfMachine returns a real registry if its image is on this machine, else
// a program that answers like one.
func registryOfMachine(t *testing.T, docker *containers.Runtime) string {
	t.Helper()
	if found, err := docker.HasImage(t.Context(), "registry:3"); err == nil && found {
		t.Log("with the real registry:3")
		return "registry:3"
	}
	t.Log("registry:3 is not on this machine: a make-believe registry stands in")
	kindtest.Image(t, dockerRegistry, []string{"/bin/registry"}, map[string]kindtest.File{
		"bin/registry": kindtest.Program(t, nodeProgram),
	})
	return dockerRegistry
}

// TestDockerFailures meets a port that is taken by a program and one that is
// taken by a container, a node image that is not there, and a cluster that was
// made by hand.
func TestDockerFailures(t *testing.T) {
	s, docker := newDockerStack(t, dockerNode)
	kindtest.NodeImage(t, dockerNode, nodeProgram, false)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.cluster.HTTPPort = pulumi.Int(listener.Addr().(*net.TCPAddr).Port)
	s.fails(s.up(t.Context()), "of this machine is taken", "kind:http_port")
	_ = listener.Close()

	s.cluster.NodeImage = pulumi.String("mara-test.invalid/node:1")
	s.fails(s.up(t.Context()), "mara-test.invalid/node:1 is not on this machine and could not be pulled")

	s.cluster.NodeImage = pulumi.String(dockerNode)
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	s.cluster.Mounts = pulumi.MapArray{pulumi.Map{"hostPath": pulumi.String("/dev/null"), "containerPath": pulumi.String("/kind/fails")}}
	kept := filepath.Join(cache, "mara/kind/mara-test")
	s.fails(s.up(t.Context()), "error execution phase preflight: this cluster is meant to fail; the logs of its nodes are in "+kept)
	if log, err := os.ReadFile(filepath.Join(kept, "mara-test-control-plane/serial.log")); err != nil || !strings.Contains(string(log), "Multi-User") {
		t.Errorf("the log of the node: %v\n%s", err, log)
	}
	s.cluster.Mounts = nil
	s.works(s.up(t.Context()), "Cluster create")
	other := newKindStackOn(t, kindprovider.OpenMachine)
	other.cluster = s.cluster
	other.fails(other.up(t.Context()), "there is a cluster mara-test already", "another stack has made it")
	other.cluster.Name = pulumi.String("mara-test-other")
	other.fails(other.up(t.Context()), "is held by the container mara-test-control-plane")

	// Killed after the creation, before it was written down.
	s.forget()
	s.works(s.up(t.Context()), "Cluster create")
	s.works(s.destroy(), "Cluster delete")
	s.works(s.destroy())
	if all, err := docker.List(t.Context(), ""); err != nil || slices.ContainsFunc(all, func(c containers.Container) bool {
		return strings.HasPrefix(c.Name, "mara-test")
	}) {
		t.Errorf("containers are left: %v, %v", all, err)
	}
}

// TestDockerCancel stops kind while Kubernetes does not come up.
func TestDockerCancel(t *testing.T) {
	s, docker := newDockerStack(t, dockerSlow)
	kindtest.NodeImage(t, dockerSlow, nodeProgram, true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			// kind has come as far as kubeadm when the file it reads is there.
			if _, err := docker.Exec(ctx, "mara-test-control-plane", nil, "cat", "/kind/kubeadm.conf"); err == nil {
				cancel()
			}
		}
	}()
	if o := s.up(ctx); o.err == nil || !strings.Contains(o.text, "cancelled while the cluster was being created") {
		t.Errorf("error %v\n%s", o.err, o.text)
	}
	s.works(s.destroy())
}

// TestDockerStopped asks a daemon that is not there.
func TestDockerStopped(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "missing.sock"))
	if !containers.OnPath("docker") {
		t.Skip("there is no docker on this machine")
	}
	s := newKindStackOn(t, kindprovider.OpenMachine)
	s.runtime = "docker"
	s.fails(s.up(t.Context()), "the container runtime does not answer: start its daemon")
}

// TestDockerRunner has the built runner stand up the first projects of a real
// environment, with the built provider in a process of its own, found through
// the settings of the working copies; and take it down again.
func TestDockerRunner(t *testing.T) {
	for _, engine := range []string{embedded, stock} {
		t.Run(engine, func(t *testing.T) {
			_, docker := newDockerStack(t, dockerNode)
			program(t, "pulumi-resource-kind")
			kindtest.NodeImage(t, dockerNode, nodeProgram, false)
			e := newEnvironment(t, engine)
			e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=test", "DOCKER_HOST="+os.Getenv("DOCKER_HOST"), "PULUMI_HOME="+t.TempDir())
			e.write("config/pulumi/environment", "PULUMI_STACK=test\n")
			port := freePort(t)
			e.write("config/pulumi/Pulumi.test.yaml", fmt.Sprintf(
				"config:\n  kind:node_image: %q\n  kind:registry_image: %q\n  kind:http_port: %d\n  kind:https_port: %d\n  kind:registry_port: %d\n",
				dockerNode, registryOfMachine(t, docker), port, freePort(t), freePort(t)))

			r := e.run("up", "-p", "kind", "--only", "kind-cluster,kind-registry,kubeconfig", "--yes", "-o", "json")
			if r.code != 0 {
				t.Fatalf("up: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
			}
			kubeconfig := filepath.Join(e.home, ".kube", "config")
			if content, err := os.ReadFile(kubeconfig); err != nil || !strings.Contains(string(content), "https://127.0.0.1:") {
				t.Errorf("the cluster is not in the kubeconfig: %v\n%s", err, content)
			}
			if r := e.run("outputs", "kind-registry", "endpoint"); !strings.HasPrefix(r.stdout, "localhost:") {
				t.Errorf("the registry is at %q\n%s", r.stdout, r.stderr)
			}
			runDocker(t, "stop", "mara-test-control-plane")
			halted := e.run("doctor", "up", "--only", "kind-cluster")
			if !strings.Contains(halted.stdout, "containers that do not run: mara-test-control-plane (stopped)") {
				t.Errorf("the doctor does not say that the node does not run:\n%s%s", halted.stdout, halted.stderr)
			}
			if r := e.run("destroy", "--yes", "-o", "json"); r.code != 0 {
				t.Fatalf("destroy: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
			}
			if content, err := os.ReadFile(kubeconfig); err == nil && strings.Contains(string(content), "127.0.0.1") {
				t.Errorf("the cluster is still in the kubeconfig:\n%s", content)
			}
		})
	}
}
