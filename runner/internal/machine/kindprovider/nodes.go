package kindprovider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mara/runner/internal/machine/containers"
	"mara/runner/internal/machine/kindnodes"
)

// nodes are the containers of a cluster, with the mark they bear.
type nodes struct {
	kindnodes.Nodes
	mark mark
}

func (b Backend) nodesOf(ctx context.Context, cluster string) (nodes, error) {
	all, err := kindnodes.Find(ctx, b.Containers, cluster)
	found := nodes{Nodes: all}
	for _, c := range all {
		if m, ok := readMark(c.Mounts); ok {
			found.mark = m
		}
	}
	return found, explain(err)
}

func (w clusterWork) nodes(ctx context.Context) (nodes, error) { return w.nodesOf(ctx, w.args.Name) }

func (n nodes) hasControlPlane() bool { return len(n.Of(kindnodes.ControlPlane)) > 0 }

// kubernetes lists the names of the nodes that Kubernetes knows.
func (n nodes) kubernetes() []string { return n.Kubernetes().Names() }

// belongToOtherCluster reports whether the nodes have another uid; an unmarked load
// balancer is ignored.
func (n nodes) belongToOtherCluster(uid string) bool {
	return len(n.Kubernetes()) > 0 && n.mark.uid != uid
}

// halted describes the nodes that do not run.
func (n nodes) halted() []error {
	var problems []error
	for _, state := range []containers.State{containers.Stopped, containers.Paused} {
		if names := n.In(state).Names(); len(names) > 0 {
			problems = append(problems, fmt.Errorf("%s nodes: %s", state, strings.Join(names, ", ")))
		}
	}
	return problems
}

func (n nodes) network() string {
	for _, c := range n.Of(kindnodes.ControlPlane) {
		if len(c.Networks) > 0 {
			return c.Networks[0]
		}
	}
	return ""
}

// signatureFile is on every control plane of a cluster that was created to the
// end. It holds the settings of the cluster that cannot be changed.
const signatureFile = "/kind/mara-complete"

// sign marks a cluster as complete.
func (w clusterWork) sign(ctx context.Context, n nodes) error {
	if !n.hasControlPlane() {
		return errors.New("kind has made a cluster without a control plane")
	}
	for _, node := range n.Of(kindnodes.ControlPlane) {
		if err := w.write(ctx, node.Name, signatureFile, w.args.signature()); err != nil {
			return err
		}
	}
	return nil
}

// signed reads what sign has written. Only a control plane that says itself
// that it has no signature counts as unsigned; any other error is returned.
func (w clusterWork) signed(ctx context.Context, n nodes) (signature string, found bool, err error) {
	for _, node := range n.Of(kindnodes.ControlPlane) {
		signature, found, err = w.readFile(ctx, node.Name, signatureFile)
		if err != nil || found {
			return signature, found, err
		}
	}
	return "", false, nil
}

// signature encodes the immutable settings of a cluster.
func (c ClusterArgs) signature() string {
	content, _ := json.Marshal(fixed(c)) // plain values only
	return string(content)
}

// differences names the settings in which a cluster with that signature differs
// from the one that is wanted. Settings that only one version of this provider
// knows are no difference.
func (c ClusterArgs) differences(signature string) []string {
	var before map[string]json.RawMessage
	if err := json.Unmarshal([]byte(signature), &before); err != nil {
		return nil // early versions signed with a checksum
	}
	wanted := fixed(c)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if value, known := wanted[name]; known && string(value) != string(before[name]) {
			names = append(names, name)
		}
	}
	return names
}

// write writes a file in a container, and the directories above it.
func (b Backend) write(ctx context.Context, container, file, content string) error {
	_, err := b.Containers.Exec(ctx, container, nil, "mkdir", "-p", path.Dir(file))
	if err == nil {
		_, err = b.Containers.Exec(ctx, container, strings.NewReader(content), "cp", "/dev/stdin", file)
	}
	if err != nil {
		return fmt.Errorf("writing %s on %s: %w", file, container, err)
	}
	return nil
}

// readFile reads a file in a container. Runtimes and programs share their exit
// codes, so only cat's own words count for a file that does not exist.
func (b Backend) readFile(ctx context.Context, container, file string) (content string, found bool, err error) {
	content, err = b.Containers.Exec(ctx, container, nil, "cat", file)
	var exit *containers.ExitError
	missing := "cat: " + file + ": no such file or directory"
	if errors.As(err, &exit) && strings.Contains(strings.ToLower(exit.Stderr), missing) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("reading %s on %s: %w", file, container, err)
	}
	return content, true, nil
}

// removeNetwork removes kind's network when no container is left in it: kind
// makes it with the first cluster and leaves it behind. A network of that name
// that the user has made does not look like kind's, and stays.
func (w clusterWork) removeNetwork(ctx context.Context) error {
	const name, masquerade = "kind", "com.docker.network.bridge.enable_ip_masquerade"
	network, ok, err := w.Containers.FindNetwork(ctx, name)
	if err != nil || !ok || len(network.Labels) > 0 || network.Options[masquerade] != "true" {
		return explain(err)
	}
	all, err := w.Containers.List(ctx, "")
	if err != nil || slices.ContainsFunc(all, func(c containers.Container) bool {
		return slices.Contains(c.Networks, name)
	}) {
		return explain(err)
	}
	return explain(w.Containers.RemoveNetwork(ctx, name))
}
