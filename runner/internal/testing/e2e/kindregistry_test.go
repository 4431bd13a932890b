package e2e

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/kind/kindsdk"
	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/testing/kindtest"
)

const (
	registry = "mara-dev-registry"
	hostsOf  = "/etc/containerd/certs.d/localhost:5001/hosts.toml"
)

func newKindRegistry(t *testing.T, images ...string) *kindStack {
	t.Helper()
	s := newKindStack(t, kindtest.New(t, append(images, nodeImage, registryImage)...))
	s.registry = &kindsdk.RegistryArgs{
		Name: pulumi.String(registry), Image: pulumi.String(registryImage), HostPort: pulumi.Int(5001),
		Labels: pulumi.StringMap{"mara.dev/stack": pulumi.String("dev")},
	}
	return s
}

// wired holds that a node and the cluster know of the registry.
func (s *kindStack) wired() {
	s.Helper()
	n := s.machine.Get("mara-dev-control-plane")
	if got := strings.Contains(n.Files[hostsOf], `[host."http://mara-dev-registry:5000"]`); !got {
		s.Error("the node does not know the registry")
	}
	if got := strings.Contains(n.ConfigMaps["local-registry-hosting"], `host: "localhost:5001"`); !got {
		s.Error("the cluster does not have the ConfigMap")
	}
}

// TestKindRegistryLifecycle takes a registry through its life on the real engine.
func TestKindRegistryLifecycle(t *testing.T) {
	t.Parallel()
	s := newKindRegistry(t, "registry:new")
	s.works(s.preview(), "Cluster create", "Registry create")
	up := s.up(t.Context())
	s.works(up, "Cluster create", "Registry create")
	s.leaves(node, "container "+registry, network, "volume "+registry)
	s.wired()
	c := s.machine.Get(registry)
	if p := c.Ports["5000/tcp"]; p.Host != 5001 || p.Address != "127.0.0.1" || c.Labels["mara.dev/stack"] != "dev" {
		t.Errorf("the container is %+v", c)
	}
	if endpoint := up.outputs["registry"].Value; endpoint != "localhost:5001" {
		t.Errorf("the endpoint is %v", endpoint)
	}
	s.machine.Calls()
	s.works(s.up(t.Context()))
	s.works(s.refresh(), "Cluster refresh", "Registry refresh")
	if calls := s.machine.Calls(); len(calls) > 0 {
		t.Errorf("a run with nothing to do has done %v", calls)
	}

	// A cluster made anew is wired again.
	s.cluster.HTTPPort = pulumi.Int(8080)
	if o := s.up(t.Context()); o.err != nil || !strings.Contains(strings.Join(o.steps, ", "), "Registry update") {
		t.Fatalf("%v: %v\n%s", o.err, o.steps, o.text)
	}
	s.wired()

	// Another image: the container is replaced.
	s.registry.Image = pulumi.String("registry:new")
	s.works(s.up(t.Context()), "Registry delete-replaced", "Registry replace", "Registry create-replacement")
	s.wired()

	// Its container is deleted by hand, the images in its volume stay.
	s.machine.Remove(registry)
	s.works(s.refresh(), "Cluster refresh", "Registry refresh")
	s.works(s.up(t.Context()), "Registry create")

	s.works(s.destroy(), "Registry delete", "Cluster delete")
	s.leaves()
}

// TestKindRegistryHeals repairs what someone has broken.
func TestKindRegistryHeals(t *testing.T) {
	t.Parallel()
	s := newKindRegistry(t)
	s.works(s.up(t.Context()), "Cluster create", "Registry create")
	s.machine.Change(registry, func(c *kindtest.Container) { c.Running, c.Networks = false, nil })
	s.machine.Change("mara-dev-control-plane", func(c *kindtest.Container) {
		delete(c.Files, hostsOf)
		delete(c.ConfigMaps, "local-registry-hosting")
	})
	o := s.refresh()
	for _, want := range []string{
		"has stopped", "is not on the network kind", "does not know the registry", "no ConfigMap kube-public/local-registry-hosting",
	} {
		if !strings.Contains(o.text+s.stateFile(), want) {
			t.Errorf("it does not say %q: %v\n%s", want, o.err, o.text)
		}
	}
	s.works(s.up(t.Context()), "Registry update")
	s.wired()
	if c := s.machine.Get(registry); !c.Running || len(c.Networks) != 1 {
		t.Errorf("the container is %+v", c)
	}
	s.works(s.up(t.Context()))
}

// TestKindRegistryFails checks that failures are reported, and repaired later.
func TestKindRegistryFails(t *testing.T) {
	t.Parallel()
	s := newKindRegistry(t)
	s.machine.Put(kindtest.Container{
		Name: "someones", Running: true, Ports: map[string]containers.Port{"80/tcp": {Address: "0.0.0.0", Host: 5001}},
	})
	s.fails(s.up(t.Context()), "port 5001 of this machine is held by the container someones", "kind:registry_port")
	s.leaves(node, "container someones", network)
	s.machine.Remove("someones")

	s.machine.Put(kindtest.Container{Name: registry, Running: true})
	s.fails(s.up(t.Context()), "there is a container mara-dev-registry already", "docker rm -f mara-dev-registry")
	s.machine.Remove(registry)

	// Another program holds the port.
	s.machine.Fail("run --detach", "docker: Error response from daemon: listen tcp4 127.0.0.1:5001: bind: address already in use.")
	s.fails(s.up(t.Context()), "port 5001 of this machine is taken")
	s.machine.Fail("run --detach", "")
	s.leaves(node, network)

	s.machine.Silence(true)
	s.fails(s.up(t.Context()), "has not answered at http://127.0.0.1:5001/v2/", "docker logs mara-dev-registry")
	s.machine.Silence(false)
	s.works(s.up(t.Context()), "Registry update")
	s.wired()

	// Left by a run that was killed.
	s.forget()
	s.works(s.up(t.Context()), "Cluster create", "Registry create")

	// Made anew by hand under the name: it is not this stack's any more.
	s.machine.Change(registry, func(c *kindtest.Container) { c.Labels = nil })
	s.works(s.destroy(), "Registry delete", "Cluster delete")
	s.leaves("container "+registry, network, "volume "+registry)
}

// TestKindRegistryWithoutCluster goes when the cluster has gone before it.
func TestKindRegistryWithoutCluster(t *testing.T) {
	t.Parallel()
	s := newKindRegistry(t)
	s.works(s.up(t.Context()), "Cluster create", "Registry create")
	s.machine.Remove("mara-dev-control-plane")
	s.works(s.destroy(), "Registry delete", "Cluster delete")
	s.leaves()
}
