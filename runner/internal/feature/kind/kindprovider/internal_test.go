package kindprovider

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	p "github.com/pulumi/pulumi-go-provider"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"mara/runner/internal/feature/kind/kindnodes"
)

func clusterArgs() ClusterArgs {
	return ClusterArgs{
		Name: "c", NodeImage: "i", ControlPlanes: new(1), Workers: new(0), ListenAddress: new(loopback),
		APIServerAddress: new(loopback), WaitSeconds: new(300), HTTPPort: new(8080),
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	args := clusterArgs()
	args.ControlPlanes, args.Workers, args.APIServerPort = new(2), new(2), new(6443)
	args.PodSubnet, args.Labels = new("10.1.0.0/16"), map[string]string{"l": "v"}
	args.Mounts = []ClusterMount{{HostPath: "/srv", ContainerPath: "/data", ReadOnly: new(true)}}
	got := args.config(mark{"owner", "uid"})
	node := func(role v1alpha4.NodeRole) v1alpha4.Node {
		return v1alpha4.Node{Role: role, Image: "i", Labels: args.Labels, ExtraMounts: []v1alpha4.Mount{
			{HostPath: "/dev/null", ContainerPath: "/kind/owner/owner/uid", Readonly: true},
			{HostPath: "/srv", ContainerPath: "/data", Readonly: true},
		}}
	}
	want := &v1alpha4.Cluster{
		TypeMeta:   v1alpha4.TypeMeta{Kind: "Cluster", APIVersion: "kind.x-k8s.io/v1alpha4"},
		Name:       "c",
		Networking: v1alpha4.Networking{APIServerAddress: loopback, APIServerPort: 6443, PodSubnet: "10.1.0.0/16"},
		Nodes: []v1alpha4.Node{
			node(v1alpha4.ControlPlaneRole), node(v1alpha4.ControlPlaneRole), node(v1alpha4.WorkerRole), node(v1alpha4.WorkerRole),
		},
	}
	// The ports lead to the first node that takes workload.
	want.Nodes[2].ExtraPortMappings = []v1alpha4.PortMapping{
		{ContainerPort: 80, HostPort: 8080, ListenAddress: loopback, Protocol: v1alpha4.PortMappingProtocolTCP},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	names := []string{"c-control-plane", "c-control-plane2", "c-worker", "c-worker2"}
	if diff := cmp.Diff(names, args.nodeNames()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if single := clusterArgs().config(mark{}); len(single.Nodes) != 1 || len(single.Nodes[0].ExtraPortMappings) != 1 {
		t.Errorf("a single node is %+v", single.Nodes)
	}
}

func TestMark(t *testing.T) {
	t.Parallel()
	want := mark{"owner", "uid"}
	marked := kindnodes.Nodes{{Mounts: []string{"/var", want.path()}}}
	if got := marked.Marks(); len(got) != 1 || got[0] != "owner/uid" {
		t.Errorf("read %q", got)
	}
	unmarked := kindnodes.Nodes{{Mounts: []string{"/var", "/kind/owner"}}}
	if got := unmarked.Marks(); len(got) > 0 {
		t.Errorf("read %q where there is none", got)
	}
}

// TestDifferences compares with what an earlier version has signed.
func TestDifferences(t *testing.T) {
	t.Parallel()
	signed := clusterArgs().signature()
	tests := []struct {
		name, signature string
		change          func(*ClusterArgs)
		want            []string
	}{
		{"nothing", signed, func(*ClusterArgs) {}, nil},
		{"what can be changed", signed, func(c *ClusterArgs) {
			c.Preload, c.RegistryMirrors, c.WaitSeconds = []string{"i"}, map[string]string{"a": "b"}, new(1)
		}, nil},
		{"an empty list for none", signed, func(c *ClusterArgs) { c.Mounts, c.Labels = []ClusterMount{}, map[string]string{} }, nil},
		{"what cannot be changed", signed, func(c *ClusterArgs) { c.HTTPPort, c.Labels = nil, map[string]string{"a": "b"} }, []string{"httpPort", "labels"}},
		{"a setting that is new", `{"name":"c"}`, func(*ClusterArgs) {}, nil},
		{"a setting that is gone", `{"name":"c","colour":"red"}`, func(*ClusterArgs) {}, nil},
		{"a checksum", "d2a84f4b8b650937ec8f73cd8be2c74a", func(*ClusterArgs) {}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args := clusterArgs()
			test.change(&args)
			if diff := cmp.Diff(test.want, args.differences(test.signature)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	before := clusterArgs()
	tests := []struct {
		name   string
		change func(*ClusterArgs)
		want   map[string]p.DiffKind
	}{
		{"nothing", func(*ClusterArgs) {}, map[string]p.DiffKind{}},
		{"an empty list for none", func(c *ClusterArgs) { c.Preload = []string{} }, map[string]p.DiffKind{}},
		{"in place", func(c *ClusterArgs) { c.Preload = []string{"i"} }, map[string]p.DiffKind{"preload": p.Update}},
		{"by replacement", func(c *ClusterArgs) { c.HTTPPort = nil }, map[string]p.DiffKind{"httpPort": p.UpdateReplace}},
		{
			"inside of a list", func(c *ClusterArgs) { c.Mounts = []ClusterMount{{HostPath: "/a"}}; c.WaitSeconds = new(1) },
			map[string]p.DiffKind{"mounts": p.UpdateReplace, "waitSeconds": p.Update},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			after := clusterArgs()
			test.change(&after)
			response := diff(before, after)
			got := map[string]p.DiffKind{}
			for name, change := range response.DetailedDiff {
				got[name] = change.Kind
			}
			if d := cmp.Diff(test.want, got); d != "" || response.HasChanges != (len(test.want) > 0) || !response.DeleteBeforeReplace {
				t.Errorf("%+v\n%s", response, d)
			}
		})
	}
}

// TestInterruptible disturbs work that cannot be stopped until it gives up.
func TestInterruptible(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		disturbed := make(chan struct{}, 3)
		work := func() error {
			cancel(cause)
			for range 3 {
				<-disturbed
			}
			return errors.New("its nodes are gone")
		}
		err := interruptible(ctx, work, func(ctx context.Context) {
			if ctx.Err() != nil {
				t.Error("the disturbance is cancelled, too")
			}
			disturbed <- struct{}{}
		})
		if !errors.Is(err, cause) {
			t.Errorf("error %v, want the cause of the cancellation", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		cause, hung := errors.New("enough"), make(chan struct{})
		defer close(hung)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		disturb := func(ctx context.Context) {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("the disturbance may hang")
			}
		}
		err := interruptible(ctx, func() error { <-hung; return nil }, disturb)
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "may have left containers behind") {
			t.Errorf("kind hangs: error %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := limit(t.Context(), time.Hour)
		defer cancel()
		gone := make(chan struct{})
		err := interruptible(ctx, func() error { <-gone; return nil }, func(context.Context) { close(gone) })
		if err == nil || err.Error() != "the cluster was not there after 1h0m0s, and was given up: kubeadm hangs, or this machine is too slow" {
			t.Errorf("kubeadm hangs: error %v", err)
		}
	})
	failure := errors.New("failure")
	if err := interruptible(t.Context(), func() error { return failure }, nil); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
}

// TestReason finds the reason in what kubeadm prints, which logs as much as it can.
func TestReason(t *testing.T) {
	t.Parallel()
	const log = "I1123 19:49:53.923067     142 round_trippers.go:632] \"Response\" status=\"\" milliseconds=0\n"
	for _, test := range []struct{ name, output, want string }{
		{"kubeadm has failed", "[init] Using Kubernetes version: v1.36.3\n" + log +
			"error execution phase preflight: [preflight] Some fatal errors occurred:\n\t[ERROR Port-6443]: Port 6443 is in use\n" +
			"[preflight] If you know what you are doing, you can make a check non-fatal\nk8s.io/kubernetes/cmd/kubeadm/app.x\n\t/src/x.go:1\n",
			"error execution phase preflight: [preflight] Some fatal errors occurred:; [ERROR Port-6443]: Port 6443 is in use"},
		{"another failure", log + "error: the cluster does not answer\nTo see the stack trace of this error execute with --v=5 or higher\n",
			"error: the cluster does not answer"},
		{"cut off", "[init] Using Kubernetes version: v1.36.3\n[kubelet-check] Waiting for a healthy kubelet\n\n" + log + log,
			"kubeadm was cut off after: [kubelet-check] Waiting for a healthy kubelet"},
		{"cut off in its log", log, "kubeadm was cut off"},
		{"another program", "docker: Error response from daemon: no.\nSee 'docker run --help'.\n",
			"docker: Error response from daemon: no.\nSee 'docker run --help'.\n"},
	} {
		if got := reason(test.output); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestKeptLogs: an error names the directory with the logs, if there are any, and those of an earlier failure go.
func TestKeptLogs(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir, err := logsDirectory("dev")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := logsDirectory("dev")
	left, _ := os.ReadDir(again)
	if err != nil || again != dir || len(left) > 0 {
		t.Errorf("%s after %s, with %v: %v", again, dir, left, err)
	}
	failure := errors.New("failure")
	if got := keptLogs(dir).mention(failure); !errors.Is(got, failure) || got.Error() != "failure; the logs of its nodes are in "+dir {
		t.Errorf("error %v", got)
	}
	if keptLogs(dir).mention(nil) != nil || !errors.Is(keptLogs("").mention(failure), failure) {
		t.Error("logs are mentioned where there are none, or no failure")
	}
}
