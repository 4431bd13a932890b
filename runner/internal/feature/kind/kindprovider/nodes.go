package kindprovider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	p "github.com/pulumi/pulumi-go-provider"

	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindnodes"
)

// nodes are the containers of a cluster, with the mark they bear.
type nodes struct {
	kindnodes.Nodes
	mark mark
}

func (b Backend) nodesOf(ctx context.Context, cluster string) (nodes, error) {
	all, err := kindnodes.Find(ctx, b.Containers, cluster)
	found := nodes{Nodes: all}
	for _, text := range all.Marks() {
		if owner, uid, ok := strings.Cut(text, "/"); ok {
			found.mark = mark{owner, uid}
		}
	}
	return found, explain(err)
}

func (w clusterWork) nodes(ctx context.Context) (nodes, error) { return w.nodesOf(ctx, w.args.Name) }

func (n nodes) hasControlPlane() bool { return len(n.Of(kindnodes.ControlPlane)) > 0 }

// hadControlPlane reports whether a control plane has ever run.
func (n nodes) hadControlPlane() bool {
	return slices.ContainsFunc(n.Of(kindnodes.ControlPlane), func(c containers.Container) bool { return !c.NeverRan })
}

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
	exit, hasFailed := errors.AsType[*containers.ExitError](err)
	if hasFailed && strings.Contains(strings.ToLower(exit.Stderr), "cat: "+file+": no such file or directory") {
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

// finish sets the mirrors of a complete cluster, loads images, and returns its state.
// It can be repeated. before is nil for a new cluster.
func (w clusterWork) finish(ctx context.Context, n nodes, before *ClusterState) (ClusterState, error) {
	old := valueOf(before)
	state := ClusterState{
		ClusterArgs: w.args, NodeNames: n.kubernetes(), Network: n.network(), UID: n.mark.uid,
		Kubeconfig: old.Kubeconfig, Endpoint: old.Endpoint, // they stay until they are read again
	}
	kubeconfig, endpoint, err := w.kubeconfig(ctx)
	if err == nil {
		state.Kubeconfig, state.Endpoint = kubeconfig, endpoint
		err = w.mirror(ctx, n, old.RegistryMirrors)
	}
	if err == nil {
		err = w.preload(ctx, n)
	}
	return state, incomplete(err)
}

// hostsDir is where containerd looks for the mirrors of registries.
const hostsDir = "/etc/containerd/certs.d"

// mirror tells the nodes' containerd where to pull from.
func (w clusterWork) mirror(ctx context.Context, n nodes, old map[string]string) error {
	for _, node := range n.kubernetes() {
		for _, host := range slices.Sorted(maps.Keys(w.args.RegistryMirrors)) {
			content := hostsFile(w.args.RegistryMirrors[host])
			if err := w.write(ctx, node, path.Join(hostsDir, host, "hosts.toml"), content); err != nil {
				return err
			}
		}
		for _, host := range slices.Sorted(maps.Keys(old)) {
			if _, kept := w.args.RegistryMirrors[host]; kept {
				continue
			}
			if _, err := w.Containers.Exec(ctx, node, nil, "rm", "-rf", path.Join(hostsDir, host)); err != nil {
				return fmt.Errorf("removing the mirror of %s on %s: %w", host, node, err)
			}
		}
	}
	return nil
}

func hostsFile(url string) string {
	return fmt.Sprintf("[host.%q]\n  capabilities = [\"pull\", \"resolve\"]\n", url)
}

// preload loads images of this machine into all nodes. One that is no longer on
// this machine is left as it is if the nodes have it.
func (w clusterWork) preload(ctx context.Context, n nodes) error {
	if len(w.args.Preload) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "kind-preload-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, image := range w.args.Preload {
		found, err := w.Containers.HasImage(ctx, image)
		if err != nil {
			return explain(err)
		}
		if !found && w.haveImage(ctx, n, image) {
			continue
		}
		if err := w.ensureImage(ctx, image, "image to preload", "kind:preload"); err != nil {
			return err
		}
		p.GetLogger(ctx).InfoStatusf("loading %s into the nodes", image)
		if err := w.load(ctx, image, filepath.Join(dir, "image.tar")); err != nil {
			return fmt.Errorf("loading %s into the nodes: %w", image, err)
		}
	}
	return nil
}

// haveImage reports whether all nodes have an image. One that cannot be asked does
// not.
func (w clusterWork) haveImage(ctx context.Context, n nodes, image string) bool {
	return !slices.ContainsFunc(n.kubernetes(), func(node string) bool {
		_, err := w.Containers.Exec(ctx, node, nil, "crictl", "inspecti", image)
		return err != nil
	})
}

func (w clusterWork) load(ctx context.Context, image, archive string) error {
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	if err := errors.Join(w.Containers.Save(ctx, image, file), file.Close()); err != nil {
		return err
	}
	return w.Clusters.Load(ctx, w.args.Name, archive)
}
