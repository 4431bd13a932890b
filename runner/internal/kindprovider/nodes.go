package kindprovider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mara/runner/internal/containers"
)

// What kind writes on its node containers.
const (
	clusterLabel = "io.x-k8s.kind.cluster"
	roleLabel    = "io.x-k8s.kind.role"
	controlPlane = "control-plane"
	worker       = "worker"
)

// nodes are the containers of a cluster, with that of the load balancer which
// kind puts in front of several control planes.
type nodes struct {
	all  []containers.Container
	mark mark
}

func (b Backend) nodesOf(ctx context.Context, cluster string) (nodes, error) {
	all, err := b.Containers.List(ctx, clusterLabel+"="+cluster)
	if err != nil {
		return nodes{}, explain(err)
	}
	found := nodes{all: all}
	for _, c := range all {
		if m, ok := readMark(c.Mounts); ok {
			found.mark = m
		}
	}
	return found, nil
}

func (w clusterWork) nodes(ctx context.Context) (nodes, error) { return w.nodesOf(ctx, w.args.Name) }

func (n nodes) names() []string {
	names := make([]string, len(n.all))
	for i, c := range n.all {
		names[i] = c.Name
	}
	return names
}

// of are the nodes of a role, in kind's order: NAME, NAME2, ..., NAME10.
func (n nodes) of(role string) []containers.Container {
	var found []containers.Container
	for _, c := range n.all {
		if c.Labels[roleLabel] == role {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b containers.Container) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return found
}

func (n nodes) hasControlPlane() bool { return len(n.of(controlPlane)) > 0 }

// workload are the names of the Kubernetes nodes, control planes first.
func (n nodes) workload() []string {
	var names []string
	for _, c := range append(n.of(controlPlane), n.of(worker)...) {
		names = append(names, c.Name)
	}
	return names
}

// another tells that these are nodes of another cluster than that with the uid.
// A load balancer alone, which bears no mark, is nobody's cluster.
func (n nodes) another(uid string) bool { return len(n.workload()) > 0 && n.mark.uid != uid }

func (n nodes) stopped() []string {
	var names []string
	for _, c := range n.all {
		if !c.Running {
			names = append(names, c.Name)
		}
	}
	return names
}

func (n nodes) network() string {
	for _, c := range n.of(controlPlane) {
		if len(c.Networks) > 0 {
			return c.Networks[0]
		}
	}
	return ""
}

// signature is a file on the first control plane that tells that the cluster is
// complete, and which one it is.
const signature = "/kind/mara-complete"

// sign marks a cluster as complete.
func (w clusterWork) sign(ctx context.Context, n nodes) error {
	if !n.hasControlPlane() {
		return errors.New("kind has made a cluster without a control plane")
	}
	return w.write(ctx, n.of(controlPlane)[0].Name, signature, w.args.fingerprint())
}

// complete tells that a cluster was made to the end, as it is wanted, and that
// all of it runs.
func (w clusterWork) complete(ctx context.Context, n nodes) bool {
	if !slices.Equal(n.workload(), w.args.nodeNames()) || len(n.stopped()) > 0 {
		return false
	}
	found, err := w.Containers.Exec(ctx, n.of(controlPlane)[0].Name, nil, "cat", signature)
	return err == nil && found == w.args.fingerprint()
}

// write writes a file in a container, and the folders above it.
func (b Backend) write(ctx context.Context, container, file, content string) error {
	if _, err := b.Containers.Exec(ctx, container, nil, "mkdir", "-p", path.Dir(file)); err != nil {
		return fmt.Errorf("writing %s on %s: %w", file, container, err)
	}
	if _, err := b.Containers.Exec(ctx, container, strings.NewReader(content), "cp", "/dev/stdin", file); err != nil {
		return fmt.Errorf("writing %s on %s: %w", file, container, err)
	}
	return nil
}

// removeNetwork removes kind's network when no container is left in it: kind
// makes it with the first cluster, and leaves it behind. One that the user has
// made in advance does not look like that, and stays.
func (w clusterWork) removeNetwork(ctx context.Context) error {
	const name, masquerade = "kind", "com.docker.network.bridge.enable_ip_masquerade"
	network, ok, err := w.Containers.FindNetwork(ctx, name)
	if err != nil || !ok || len(network.Labels) > 0 || network.Options[masquerade] != "true" {
		return explain(err)
	}
	all, err := w.Containers.List(ctx, "")
	if err != nil {
		return explain(err)
	}
	for _, c := range all {
		if slices.Contains(c.Networks, name) {
			return nil
		}
	}
	return explain(w.Containers.RemoveNetwork(ctx, name))
}
