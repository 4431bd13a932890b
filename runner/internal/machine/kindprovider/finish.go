package kindprovider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	p "github.com/pulumi/pulumi-go-provider"
)

// finish sets the mirrors of a complete cluster, loads images, and returns its state.
// It can be repeated. before is nil for a new cluster.
func (w clusterWork) finish(ctx context.Context, n nodes, before *ClusterState) (ClusterState, error) {
	state := ClusterState{ClusterArgs: w.args, NodeNames: n.kubernetes(), Network: n.network(), UID: n.mark.uid}
	var old ClusterArgs
	if before != nil { // the kubeconfig stays until it is read again
		old, state.Kubeconfig, state.Endpoint = before.ClusterArgs, before.Kubeconfig, before.Endpoint
	}
	kubeconfig, endpoint, err := w.kubeconfig(ctx)
	if err == nil {
		state.Kubeconfig, state.Endpoint = kubeconfig, endpoint
		err = w.mirror(ctx, n, old.RegistryMirrors)
	}
	if err == nil {
		err = w.preload(ctx, n)
	}
	if err != nil {
		return state, incomplete(err)
	}
	return state, nil
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
		if err := w.ensureImage(ctx, image, "image to preload"); err != nil {
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
