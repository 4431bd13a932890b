// Package kindnodes finds the node containers of a kind cluster, and starts stopped
// ones.
package kindnodes

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/machine/reach"
)

// Labels that kind puts on its containers.
const (
	ClusterLabel = "io.x-k8s.kind.cluster"
	roleLabel    = "io.x-k8s.kind.role"
)

// OwnerLabel says which stack has made the container of a registry.
const OwnerLabel = "mara.dev/owner"

// MarkDir is the mount point that identifies the owner of a node and its cluster:
// MarkDir/OWNER/UID.
const MarkDir = "/kind/owner"

// Roles of nodes.
const (
	ControlPlane = "control-plane"
	Worker       = "worker"
)

// Nodes are the containers of a cluster, including the load balancer that kind puts
// in front of several control planes.
type Nodes []containers.Container

// Find lists the nodes of a cluster.
func Find(ctx context.Context, runtime *containers.Runtime, cluster string) (Nodes, error) {
	return runtime.List(ctx, ClusterLabel+"="+cluster)
}

// Names returns the names of the containers.
func (n Nodes) Names() []string {
	return lists.Map(n, func(c containers.Container) string { return c.Name })
}

// In returns the nodes in a state.
func (n Nodes) In(state containers.State) Nodes {
	return n.only(func(c containers.Container) bool { return c.State == state })
}

// Of returns the nodes of a role, in kind's order: NAME, NAME2, ..., NAME10.
func (n Nodes) Of(role string) Nodes {
	found := n.only(func(c containers.Container) bool { return c.Labels[roleLabel] == role })
	slices.SortFunc(found, func(a, b containers.Container) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return found
}

// Kubernetes returns the nodes that Kubernetes knows, control planes first.
func (n Nodes) Kubernetes() Nodes { return append(n.Of(ControlPlane), n.Of(Worker)...) }

func (n Nodes) only(wanted func(containers.Container) bool) Nodes {
	return slices.DeleteFunc(slices.Clone(n), func(c containers.Container) bool { return !wanted(c) })
}

// Halted returns the stopped and paused nodes.
func (n Nodes) Halted() Nodes { return append(n.In(containers.Stopped), n.In(containers.Paused)...) }

// Marks lists the marks of the nodes: OWNER/UID.
func (n Nodes) Marks() []string {
	var marks []string
	for _, c := range n {
		for _, mount := range c.Mounts {
			if mark, ok := strings.CutPrefix(mount, MarkDir+"/"); ok {
				marks = append(marks, mark)
			}
		}
	}
	return marks
}

// Deletion returns a command that deletes the nodes of a cluster. kind need not be installed for it.
func Deletion(runtime *containers.Runtime, cluster string) string {
	return fmt.Sprintf("%[1]s rm -f -v $(%[1]s ps -aq -f label=%[2]s=%[3]s)", runtime.Name, ClusterLabel, cluster)
}

// Bear reports whether a node is marked with the uid of a cluster.
func (n Nodes) Bear(uid string) bool {
	return slices.ContainsFunc(n.Marks(), func(mark string) bool { return path.Base(mark) == uid })
}

// Kubectl runs kubectl as administrator on the first control plane, and returns its
// output. stdin may be nil.
func (n Nodes) Kubectl(ctx context.Context, runtime *containers.Runtime, stdin io.Reader, args ...string) (
	string, error) {
	command := append([]string{"kubectl", "--kubeconfig=/etc/kubernetes/admin.conf"}, args...)
	return runtime.Exec(ctx, n.Of(ControlPlane)[0].Name, stdin, command...)
}

// AwaitReady waits until the API server is ready, some time after its node was
// started. With a limit of zero it returns at once.
func (n Nodes) AwaitReady(ctx context.Context, runtime *containers.Runtime, limit time.Duration) error {
	if limit <= 0 {
		return nil
	}
	ask := func(ctx context.Context, _ string) error {
		_, err := n.Kubectl(ctx, runtime, nil, "get", "--raw=/readyz")
		return err
	}
	return reach.Until(ctx, "the API server", reach.Options{Ask: ask, Every: time.Second, Limit: limit})
}

// ReadyLimit bounds how long an API server takes to be ready after its node was
// started.
const ReadyLimit = 2 * time.Minute

// Revive starts the halted nodes of the cluster with the uid, reports their names,
// and waits until the API server is ready. It does not touch other clusters.
func Revive(ctx context.Context, runtime *containers.Runtime, cluster, uid string, say func(text string)) error {
	nodes, err := Find(ctx, runtime, cluster)
	if err != nil || len(nodes.Of(ControlPlane)) == 0 || !nodes.Bear(uid) {
		return err
	}
	halted := nodes.Halted()
	if len(halted) == 0 {
		return nil
	}
	say("starting the stopped nodes " + strings.Join(halted.Names(), ", ") + " to change resources in the cluster")
	if err := runtime.Resume(ctx, halted...); err != nil {
		return err
	}
	return nodes.AwaitReady(ctx, runtime, ReadyLimit)
}
