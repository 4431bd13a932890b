package kindprovider_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/property"

	"mara/projects/infrastructure/kind/kindsdk"
	"mara/runner/internal/feature/kind/kindprovider"
	"mara/runner/internal/testing/kindtest"
)

const (
	controlPlane  = "dev-control-plane"
	signatureFile = "/kind/mara-complete"
)

// life is a resource whose provider works on a machine in memory.
type life struct {
	*testing.T
	machine  *kindtest.Machine
	provider p.Provider
	urn      resource.URN
	inputs   property.Map
	state    property.Map
}

func newLife(t *testing.T, machine *kindtest.Machine, token string, inputs map[string]property.Value) *life {
	t.Helper()
	provider := kindprovider.NewProvider(machine.Open, "owner")
	if err := provider.Configure(t.Context(), p.ConfigureRequest{}); err != nil {
		t.Fatal(err)
	}
	l := &life{T: t, machine: machine, provider: provider, urn: resource.NewURN("dev", "test", "", tokens.Type(token), "it")}
	checked, err := provider.Check(t.Context(), p.CheckRequest{Urn: l.urn, Inputs: property.NewMap(inputs)})
	if err != nil || len(checked.Failures) > 0 {
		t.Fatalf("inputs: %v, %v", checked.Failures, err)
	}
	l.inputs = checked.Inputs
	return l
}

// newCluster returns a cluster that does not exist yet.
func newCluster(t *testing.T, inputs map[string]property.Value) *life {
	t.Helper()
	all := map[string]property.Value{"name": property.New("dev"), "nodeImage": property.New("node"), "httpPort": property.New(8080.0)}
	for name, value := range inputs {
		all[name] = value
	}
	return newLife(t, kindtest.New(t, "node", "registry"), kindsdk.ClusterToken, all)
}

// newRegistry returns a registry of a cluster that does not exist yet.
func newRegistry(t *testing.T, c *life) *life {
	t.Helper()
	return newLife(t, c.machine, kindsdk.RegistryToken, map[string]property.Value{
		"name": property.New("dev-registry"), "image": property.New("registry"), "hostPort": property.New(5001.0),
		"network": property.New("kind"), "clusterName": property.New("dev"), "clusterUid": c.state.Get("uid"), "nodeNames": c.state.Get("nodeNames"),
	})
}

// create creates the resource; with an error in want it has to fail with that.
func (l *life) create(want string) {
	l.Helper()
	r, err := l.provider.Create(l.Context(), p.CreateRequest{Urn: l.urn, Properties: l.inputs})
	l.ends(err, want)
	if err == nil || r.PartialState != nil {
		l.state = r.Properties
	}
}

// update updates the resource, and clears its problems.
func (l *life) update(want string) {
	l.Helper()
	r, err := l.provider.Update(l.Context(), p.UpdateRequest{ID: "it", Urn: l.urn, State: l.state, Inputs: l.inputs})
	l.ends(err, want)
	if err == nil || r.PartialState != nil {
		l.state = r.Properties
	}
}

// delete deletes the resource.
func (l *life) delete(want string) {
	l.Helper()
	l.ends(l.provider.Delete(l.Context(), p.DeleteRequest{ID: "it", Urn: l.urn, Properties: l.state}), want)
}

// refresh reads the resource, and returns the problems that its state tells.
func (l *life) refresh() string {
	l.Helper()
	r, err := l.provider.Read(l.Context(), p.ReadRequest{ID: "it", Urn: l.urn, Properties: l.state, Inputs: l.inputs})
	if err != nil && r.PartialState == nil {
		l.Fatal(err)
	}
	l.state = r.Properties
	var problems []string
	if reported := l.state.Get("problems"); reported.IsArray() {
		for _, problem := range reported.AsArray().All {
			problems = append(problems, problem.AsString())
		}
	}
	if r.PartialState != nil && !slices.Equal(problems, r.PartialState.Reasons) {
		l.Errorf("the problems are %v, the reasons %v", problems, r.PartialState.Reasons)
	}
	return strings.Join(problems, "; ")
}

func (l *life) ends(err error, want string) {
	l.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		l.Errorf("error %v, want %q", err, want)
	}
}

// keeps holds that nothing has been removed or made anew.
func (l *life) keeps() {
	l.Helper()
	for _, call := range l.machine.Calls() {
		if strings.HasPrefix(call, "rm ") || strings.HasPrefix(call, "kind create") {
			l.Errorf("it did %s", call)
		}
	}
}

func stop(c *kindtest.Container)  { c.Running = false }
func pause(c *kindtest.Container) { c.Paused = true }

// TestHaltedNodes: they are drift, and the next update starts them.
func TestHaltedNodes(t *testing.T) {
	t.Parallel()
	for name, halt := range map[string]func(*kindtest.Container){"stopped": stop, "paused": pause} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newCluster(t, nil)
			l.create("")
			if problems := l.refresh(); problems != "" {
				t.Errorf("a new cluster has the problems %q", problems)
			}
			l.machine.Calls()
			l.machine.Change(controlPlane, halt)
			if problems := l.refresh(); problems != name+" nodes: "+controlPlane {
				t.Errorf("the problems are %q", problems)
			}
			l.update("")
			l.keeps()
			if c := l.machine.Get(controlPlane); !c.Running || c.Paused {
				t.Error("the node does not run")
			}
			if problems := l.refresh(); problems != "" {
				t.Errorf("after the update it has the problems %q", problems)
			}
		})
	}
}

// TestPreloadedImageIsGone: an image that the nodes have does not have to stay on
// this machine, where it may have been built. One that a node lacks does.
func TestPreloadedImageIsGone(t *testing.T) {
	t.Parallel()
	l := newCluster(t, map[string]property.Value{"preload": property.New([]property.Value{property.New("app:1")})})
	l.machine.Fail("pull app:1", "registry-1.docker.io: no such host")
	l.create("app:1 is not on this machine and could not be pulled")
	l.create("load -i FILE` loads it from an archive, and kind:preload names another one")
	l.machine.Fail("pull app:1", "")
	l.update("")
	l.machine.RemoveImage("app:1")
	l.machine.Fail("pull app:1", "registry-1.docker.io: no such host")
	l.machine.Change(controlPlane, stop)
	l.update("")
	l.machine.Change(controlPlane, func(c *kindtest.Container) { c.Images = nil })
	l.update("app:1 is not on this machine and could not be pulled")
	l.machine.Calls()
}

// TestUpdateKeepsNodes: no failure makes the provider recreate a cluster that was
// complete.
func TestUpdateKeepsNodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		happen func(m *kindtest.Machine)
		want   string
	}{
		{"nothing", func(*kindtest.Machine) {}, ""},
		{"a command cannot be run", func(m *kindtest.Machine) {
			m.Fail("exec", "OCI runtime exec failed: unable to start container process")
		},
			"asking whether the cluster dev is complete: reading /kind/mara-complete on dev-control-plane: docker exec: OCI runtime exec failed"},
		{"the daemon is gone", func(m *kindtest.Machine) {
			m.Fail("exec", "error during connect: dial unix /var/run/docker.sock: connect: no such file or directory")
		}, "the container runtime does not answer"},
		{"a stopped node does not start", func(m *kindtest.Machine) {
			m.Change(controlPlane, stop)
			m.Fail("start", "Bind for 127.0.0.1:8080 failed: port is already allocated")
		}, "port 8080 of this machine is taken"},
		{"another version signs with other settings", func(m *kindtest.Machine) {
			m.Change(controlPlane, func(c *kindtest.Container) { c.Files[signatureFile] = `{"colour":"red"}` })
		}, ""},
		{"an early version signed with a checksum", func(m *kindtest.Machine) {
			m.Change(controlPlane, func(c *kindtest.Container) { c.Files[signatureFile] = strings.Repeat("0a", 32) })
		}, ""},
		{"a worker was deleted", func(m *kindtest.Machine) { m.Remove("dev-worker") }, "the cluster dev lacks the nodes dev-worker"},
		{"one control plane of several was deleted", func(m *kindtest.Machine) { m.Remove(controlPlane) }, "the cluster dev lacks the nodes dev-control-plane"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newCluster(t, map[string]property.Value{"workers": property.New(1.0), "controlPlanes": property.New(2.0)})
			l.create("")
			l.machine.Calls()
			test.happen(l.machine)
			l.update(test.want)
			l.keeps()
		})
	}
}

// TestTakeoverKeepsNodes: a run that was killed has left a complete cluster, of
// which the state knows nothing.
func TestTakeoverKeepsNodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		happen func(l *life)
		want   string
	}{
		{"it stands", func(*life) {}, ""},
		{"it has stopped", func(l *life) { l.machine.Change(controlPlane, stop) }, ""},
		{"it is paused", func(l *life) { l.machine.Change(controlPlane, pause) }, ""},
		{"it cannot be asked", func(l *life) { l.machine.Fail("exec", "OCI runtime exec failed") }, "asking whether the cluster dev is complete"},
		{"it has other settings", func(l *life) { l.inputs = l.inputs.Set("httpPort", property.New(80.0)) }, "with other settings (httpPort)"},
		{"it was made by another version", func(l *life) {
			l.machine.Change(controlPlane, func(c *kindtest.Container) { c.Files[signatureFile] = `{"colour":"red"}` })
		}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newCluster(t, nil)
			l.create("")
			l.machine.Calls()
			test.happen(l)
			l.create(test.want)
			l.keeps()
		})
	}
}

// TestUnfinishedIsMadeAnew: a cluster whose node says that it has no signature
// holds nothing yet.
func TestUnfinishedIsMadeAnew(t *testing.T) {
	t.Parallel()
	l := newCluster(t, nil)
	l.create("")
	unsign := func(c *kindtest.Container) { delete(c.Files, signatureFile) }
	for i, again := range []func(string){l.create, l.update} {
		l.machine.Change(controlPlane, unsign)
		again("")
		if uid, want := l.state.Get("uid").AsString(), []string{"uid-2", "uid-3"}[i]; uid != want {
			t.Errorf("the uid is %s, want %s", uid, want)
		}
	}
}

// TestNodeThatNeverRan: where the runtime ended while it created the node, the node is
// cleared away, not started: the runtime may refuse that for good.
func TestNodeThatNeverRan(t *testing.T) {
	t.Parallel()
	l := newCluster(t, nil)
	l.create("")
	for _, again := range []func(string){l.create, l.update} {
		l.machine.Change(controlPlane, func(c *kindtest.Container) {
			c.Running, c.StartedAt, c.Files = false, "0001-01-01T00:00:00Z", nil
		})
		l.machine.Fail("start "+controlPlane, "address already in use")
		l.machine.Calls()
		again("")
		if calls := strings.Join(l.machine.Calls(), "\n"); strings.Contains(calls, "start "+controlPlane) {
			t.Errorf("the node was started:\n%s", calls)
		}
		if c := l.machine.Get(controlPlane); !c.Running {
			t.Error("there is no cluster")
		}
	}
}

// TestUpdateAwaitsTheAPIServer: what comes next asks it at once.
func TestUpdateAwaitsTheAPIServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newCluster(t, map[string]property.Value{"waitSeconds": property.New(20.0)})
		l.create("")
		l.machine.Change(controlPlane, stop)
		l.machine.Boot(5)
		l.update("")
		if l.machine.Booting() {
			t.Error("the API server is not ready yet")
		}
		l.machine.Calls()
		l.machine.Boot(1000)
		l.update("the cluster dev is not ready: the API server has not answered within 20s: docker exec: The connection to the server")
		l.keeps()
	})
}

// TestRegistryProblems tells a cluster that cannot be asked from one that lacks
// something.
func TestRegistryProblems(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.create("")
	l := newRegistry(t, c)
	l.create("")
	if problems := l.refresh(); problems != "" {
		t.Errorf("a new registry has the problems %q", problems)
	}
	l.machine.Boot(1)
	const kubectl = "asking the cluster dev for the ConfigMap kube-public/local-registry-hosting: docker exec: The connection to the server"
	if problems := l.refresh(); !strings.HasPrefix(problems, kubectl) {
		t.Errorf("without an API server the problems are %q", problems)
	}
	l.machine.Boot(0)
	l.machine.Change(controlPlane, func(c *kindtest.Container) { clear(c.ConfigMaps) })
	if problems := l.refresh(); problems != "the cluster has no ConfigMap kube-public/local-registry-hosting" {
		t.Errorf("without the ConfigMap the problems are %q", problems)
	}
	l.machine.Change("dev-registry", pause)
	if problems := l.refresh(); !strings.HasPrefix(problems, "the container dev-registry is paused") {
		t.Errorf("the problems of a paused registry are %q", problems)
	}
	l.update("")
	if problems := l.refresh(); problems != "" {
		t.Errorf("after the update it has the problems %q", problems)
	}
}

// TestRegistryKeepsContainer: a registry whose new image cannot be pulled stays as it is.
func TestRegistryKeepsContainer(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.create("")
	l := newRegistry(t, c)
	l.create("")
	l.machine.Calls()
	l.inputs = l.inputs.Set("image", property.New("registry:missing"))
	l.machine.Fail("pull", "manifest unknown")
	l.update("the registry's image registry:missing is not on this machine and could not be pulled")
	l.keeps()
	if l.machine.Get("dev-registry") == nil {
		t.Error("the container of the registry is gone")
	}
}

// TestRegistryAwaitsTheAPIServer: when the runtime was restarted, its nodes run,
// and their API server is not ready yet.
func TestRegistryAwaitsTheAPIServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		c.create("")
		l := newRegistry(t, c)
		l.create("")
		l.machine.Boot(5)
		l.update("")
		l.machine.Boot(5)
		l.delete("")
		l.machine.Calls()
	})
}
