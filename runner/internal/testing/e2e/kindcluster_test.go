package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/runner/internal/testing/kindtest"
)

const (
	node    = "container mara-dev-control-plane"
	network = "network kind"
)

// TestKindClusterLifecycle takes a cluster through its life on the real engine.
func TestKindClusterLifecycle(t *testing.T) {
	t.Parallel()
	s := newKindStack(t, kindtest.New(t, nodeImage, "app:1", "app:2"))

	s.works(s.preview(), "Cluster create")
	s.leaves()

	up := s.up(t.Context())
	s.works(up, "Cluster create")
	s.leaves(node, network)
	kubeconfig := up.outputs["kubeconfig"]
	if text, _ := kubeconfig.Value.(string); !kubeconfig.Secret || !strings.Contains(text, kindtest.Token) {
		t.Errorf("the kubeconfig is secret: %t", kubeconfig.Secret)
	}
	if strings.Contains(s.stateFile(), kindtest.Token) {
		t.Error("the kubeconfig is in the state as plain text")
	}
	got := map[string]any{}
	for _, name := range []string{"endpoint", "uid", "node_names", "network"} {
		got[name] = up.outputs[name].Value
	}
	want := map[string]any{
		"endpoint": "https://127.0.0.1:6443", "uid": "uid-1", "node_names": []any{"mara-dev-control-plane"}, "network": "kind",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}

	// Nothing to do.
	s.machine.Calls()
	s.works(s.up(t.Context()))
	s.works(s.refresh(), "Cluster refresh")
	if calls := s.machine.Calls(); len(calls) > 0 {
		t.Errorf("a run with nothing to do has done %v", calls)
	}

	// What can be changed is changed in place.
	s.cluster.RegistryMirrors = pulumi.StringMap{"docker.io": pulumi.String("http://mirror:5000")}
	s.cluster.Preload = pulumi.StringArray{pulumi.String("app:1"), pulumi.String("app:2")}
	s.works(s.up(t.Context()), "Cluster update")
	n := s.machine.Get("mara-dev-control-plane")
	if diff := cmp.Diff([]string{"app:1", "app:2"}, n.Images); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	const hosts = "/etc/containerd/certs.d/docker.io/hosts.toml"
	if !strings.Contains(n.Files[hosts], `[host."http://mirror:5000"]`) {
		t.Errorf("the mirror is %q", n.Files[hosts])
	}
	s.cluster.RegistryMirrors = nil
	s.works(s.up(t.Context()), "Cluster update")
	if _, ok := n.Files[hosts]; ok {
		t.Error("the mirror is still there")
	}

	// What cannot be changed is replaced, and the old one goes first.
	s.cluster.HTTPPort = pulumi.Int(8080)
	s.works(s.preview(), "Cluster delete-replaced", "Cluster replace", "Cluster create-replacement")
	up = s.up(t.Context())
	s.works(up, "Cluster delete-replaced", "Cluster replace", "Cluster create-replacement")
	if uid := up.outputs["uid"].Value; uid != "uid-2" {
		t.Errorf("the uid is %v", uid)
	}
	if p := s.machine.Get("mara-dev-control-plane").Ports["80/tcp"]; p.Host != 8080 || p.Address != "127.0.0.1" {
		t.Errorf("port 80 is at %+v", p)
	}

	// Deleted by hand: a refresh notices, the next run makes it anew.
	s.machine.Remove("mara-dev-control-plane")
	s.works(s.refresh(), "Cluster refresh")
	s.works(s.up(t.Context()), "Cluster create")

	s.works(s.destroy(), "Cluster delete")
	s.leaves()
	s.works(s.destroy())
}

// TestKindClusterGoneByHand destroys what is not there any more.
func TestKindClusterGoneByHand(t *testing.T) {
	t.Parallel()
	s := newKindStack(t, kindtest.New(t, nodeImage))
	s.works(s.up(t.Context()), "Cluster create")
	s.machine.Remove("mara-dev-control-plane")
	s.works(s.destroy(), "Cluster delete")
	s.leaves()
}

// TestKindClusterOfOthers leaves alone what this stack has not made.
func TestKindClusterOfOthers(t *testing.T) {
	t.Parallel()
	machine := kindtest.New(t, nodeImage)
	machine.Put(kindtest.Container{
		Name: "mara-dev-control-plane", Running: true,
		Labels: map[string]string{"io.x-k8s.kind.cluster": "mara-dev", "io.x-k8s.kind.role": "control-plane"},
	})
	s := newKindStack(t, machine)
	s.fails(s.up(t.Context()), "there is a cluster mara-dev already", "made without mara", "choose another stack (-s)",
		"docker rm -f -v $(docker ps -aq -f label=io.x-k8s.kind.cluster=mara-dev)")
	s.leaves(node)

	// Another stack's is no different.
	machine.Remove("mara-dev-control-plane")
	s.works(s.up(t.Context()), "Cluster create")
	other := newKindStack(t, machine)
	other.fails(other.up(t.Context()), "there is a cluster mara-dev already", "another stack has made it")
	s.leaves(node, network)

	// Made anew by hand under the name: it is not this stack's any more.
	machine.Change("mara-dev-control-plane", func(c *kindtest.Container) { c.Mounts = nil })
	s.works(s.destroy(), "Cluster delete")
	s.leaves(node, network)
}

// TestKindClusterFails cleans up after itself, and repairs what it could not.
func TestKindClusterFails(t *testing.T) {
	t.Parallel()
	s := newKindStack(t, kindtest.New(t, nodeImage))
	s.cluster.Workers = pulumi.Int(2)
	s.machine.Next(&kindtest.Creation{
		Nodes: 2, Error: "docker: Error response from daemon: driver failed programming external connectivity on endpoint x: " +
			"Bind for 127.0.0.1:80 failed: port is already allocated.",
	})
	s.fails(s.up(t.Context()), "port 80 of this machine is taken", "kind:http_port")
	s.leaves()

	s.machine.Fail("rm --force", "Error response from daemon: device or resource busy")
	s.fails(s.up(t.Context()), "removing what there was of it", "device or resource busy")
	s.leaves(node, "container mara-dev-worker", network)
	s.machine.Fail("rm --force", "")
	s.machine.Next(nil)
	s.works(s.up(t.Context()), "Cluster update")
	s.leaves(node, "container mara-dev-worker", "container mara-dev-worker2", network)

	s.machine.Next(&kindtest.Creation{Nodes: 1, Error: "no space left on device"})
	s.machine.Fail("rm --force", "device or resource busy")
	s.cluster.Workers = pulumi.Int(1)
	s.fails(s.up(t.Context()), "device or resource busy")
	s.machine.Fail("rm --force", "")
	s.works(s.destroy(), "Cluster delete")
	s.leaves()
}

// TestKindClusterHalfMade destroys, and makes anew, what a failure has left.
func TestKindClusterHalfMade(t *testing.T) {
	t.Parallel()
	s := newKindStack(t, kindtest.New(t, nodeImage))
	s.machine.Fail("rm --force", "device or resource busy")
	s.machine.Next(&kindtest.Creation{Error: "kubeadm init failed"})
	s.fails(s.up(t.Context()), "kubeadm init failed")
	s.machine.Fail("rm --force", "")
	s.works(s.destroy(), "Cluster delete")
	s.leaves()

	// The cluster is there, something in it is not.
	s.machine.Next(nil)
	s.cluster.Preload = pulumi.StringArray{pulumi.String("app:1")}
	s.machine.Fail("pull", "no route to host")
	s.fails(s.up(t.Context()), "app:1 is not on this machine and could not be pulled", "no route to host")
	s.machine.Fail("pull", "")
	s.works(s.up(t.Context()), "Cluster update")
	s.works(s.destroy(), "Cluster delete")
}

// TestKindClusterCancel stops in the middle, and the next run starts again.
func TestKindClusterCancel(t *testing.T) {
	t.Parallel()
	s := newKindStack(t, kindtest.New(t, nodeImage))
	blocked := make(chan struct{})
	s.machine.Next(&kindtest.Creation{Nodes: 1, Blocked: blocked})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-blocked
		cancel()
	}()
	if o := s.up(ctx); o.err == nil || !strings.Contains(o.text, "cancelled while the cluster was being created") {
		t.Errorf("error %v\n%s", o.err, o.text)
	}
	s.leaves()
	s.machine.Next(nil)
	s.works(s.up(t.Context()), "Cluster create")
}

// TestKindClusterStopped starts nodes that someone has stopped, and tells a
// runtime that does not answer from a cluster that is gone.
func TestKindClusterStopped(t *testing.T) {
	t.Parallel()
	s := newKindStack(t, kindtest.New(t, nodeImage))
	s.works(s.up(t.Context()), "Cluster create")
	s.machine.Change("mara-dev-control-plane", func(c *kindtest.Container) { c.Running = false })
	if o := s.refresh(); o.err != nil && !strings.Contains(o.text, "stopped nodes") {
		t.Fatalf("%v\n%s", o.err, o.text)
	}
	s.works(s.up(t.Context()), "Cluster update")
	if !s.machine.Get("mara-dev-control-plane").Running {
		t.Error("the node was not started")
	}

	s.machine.Stop()
	s.fails(s.refresh(), "the container runtime does not answer")
	s.machine.Start()
	s.works(s.up(t.Context()))
}

// TestKindClusterTakeover has a run find what one that was killed has left: the
// state knows of the provider and nothing else.
func TestKindClusterTakeover(t *testing.T) {
	t.Parallel()
	s := newKindStack(t, kindtest.New(t, nodeImage))
	s.works(s.up(t.Context()), "Cluster create")
	s.forget()
	s.machine.Calls()
	up := s.up(t.Context())
	s.works(up, "Cluster create")
	if calls := s.machine.Calls(); len(calls) > 0 || up.outputs["uid"].Value != "uid-1" {
		t.Errorf("a complete cluster was not taken over: %v", calls)
	}

	s.forget()
	s.machine.Change("mara-dev-control-plane", func(c *kindtest.Container) { c.Files = map[string]string{} })
	up = s.up(t.Context())
	s.works(up, "Cluster create")
	if uid := up.outputs["uid"].Value; uid != "uid-2" {
		t.Errorf("half a cluster was taken over: %v", uid)
	}
}

// TestKindRuntimeChange takes everything down in one runtime before it is made in
// another, for the provider is a new one then.
func TestKindRuntimeChange(t *testing.T) {
	t.Parallel()
	s := newKindStack(t, kindtest.New(t, nodeImage))
	s.works(s.up(t.Context()), "Cluster create")
	s.runtime, s.deaf = "docker", true
	up := s.up(t.Context())
	s.works(up, "Cluster delete-replaced", "Cluster replace", "Cluster create-replacement")
	if uid := up.outputs["uid"].Value; uid != "uid-2" {
		t.Errorf("the uid is %v", uid)
	}
	s.works(s.up(t.Context()))
	s.works(s.destroy(), "Cluster delete")
	s.leaves()
}

// TestKindRefusals checks that wrong inputs are refused before anything is created.
func TestKindRefusals(t *testing.T) {
	t.Parallel()
	machine := kindtest.New(t, nodeImage)
	s := newKindStack(t, machine)
	s.cluster.Name, s.cluster.HTTPPort = pulumi.String("Mara_Dev"), pulumi.Int(70000)
	s.fails(s.preview(), `"Mara_Dev" is not a name for a cluster`, "70000 is no port")

	s.cluster.Name, s.cluster.HTTPPort = pulumi.String("mara-dev"), pulumi.Int(80)
	s.runtime = "rkt"
	s.fails(s.preview(), `"rkt" is no container runtime`)
	s.runtime = ""

	// The ports of another environment on the machine.
	other := newKindStack(t, machine)
	other.cluster.Name = pulumi.String("mara-other")
	other.works(other.up(t.Context()), "Cluster create")
	machine.Calls()
	s.fails(s.up(t.Context()), "port 80 of this machine is held by the container mara-other-control-plane", "port 443")
	if calls := machine.Calls(); len(calls) > 0 {
		t.Errorf("before it noticed, it has done %v", calls)
	}
	s.cluster.HTTPPort, s.cluster.HTTPSPort = pulumi.Int(8080), pulumi.Int(8443)
	s.works(s.up(t.Context()), "Cluster create")
	s.works(s.destroy(), "Cluster delete")
	s.leaves("container mara-other-control-plane", network)
}
