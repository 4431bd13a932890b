package kindprovider

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The wires of a registry are what makes the cluster use it: on every node a
// file that sends containerd to the registry's container for images that are
// named after the port of this machine, and a ConfigMap that tells tools where
// to push (KEP-1755).

func (r RegistryArgs) hostsFile() string { return path.Join(hostsFolder, r.endpoint(), "hosts.toml") }

func (r RegistryArgs) hosts() string {
	return strings.TrimSpace(hostsFile(fmt.Sprintf("http://%s:%d", r.Name, registryPort)))
}

const configMapName = "local-registry-hosting"

func (r RegistryArgs) configMap() string {
	return fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata:
  name: %s
  namespace: kube-public
data:
  localRegistryHosting.v1: |
    host: %q
    hostFromContainerRuntime: "%s:%d"
    hostFromClusterNetwork: "%s:%d"
    help: "https://kind.sigs.k8s.io/docs/user/local-registry/"
`, configMapName, r.endpoint(), r.Name, registryPort, r.Name, registryPort)
}

// wire connects the nodes of the cluster.
func (w registryWork) wire(ctx context.Context) error {
	n, err := w.cluster(ctx)
	if err != nil {
		return err
	}
	if n == nil {
		return fmt.Errorf("there is no cluster %s to wire the registry to: refresh its project first", w.args.ClusterName)
	}
	for _, node := range w.args.NodeNames {
		if err := w.write(ctx, node, w.args.hostsFile(), w.args.hosts()+"\n"); err != nil {
			return err
		}
	}
	if _, err := w.kubectl(ctx, n, w.args.configMap(), "apply", "-f", "-"); err != nil {
		return fmt.Errorf("making the ConfigMap kube-public/%s: %w", configMapName, err)
	}
	return nil
}

// unwire removes what wire has made, as far as the cluster is there.
func (w registryWork) unwire(ctx context.Context) error {
	n, err := w.cluster(ctx)
	if err != nil || n == nil {
		return err
	}
	_, err = w.kubectl(ctx, n, "", "delete", "configmap", "--namespace=kube-public", "--ignore-not-found", configMapName)
	problems := []error{err}
	for _, node := range w.args.NodeNames {
		if !slices.Contains(n.names(), node) {
			continue
		}
		_, err := w.Containers.Exec(ctx, node, nil, "rm", "-rf", path.Dir(w.args.hostsFile()))
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// checkWires tells which wires are missing. Those of a cluster that is gone
// are not missed: the cluster is.
func (w registryWork) checkWires(ctx context.Context) []error {
	n, err := w.cluster(ctx)
	if err != nil {
		return []error{err}
	}
	if n == nil || len(n.stopped()) > 0 {
		return nil
	}
	var problems []error
	for _, node := range w.args.NodeNames {
		if found, err := w.Containers.Exec(ctx, node, nil, "cat", w.args.hostsFile()); err != nil || found != w.args.hosts() {
			problems = append(problems, fmt.Errorf("the node %s does not know the registry", node))
		}
	}
	found, err := w.kubectl(ctx, n, "", "get", "configmap", "--namespace=kube-public", "--ignore-not-found", "--output=name", configMapName)
	if err != nil || found == "" {
		problems = append(problems, fmt.Errorf("the cluster has no ConfigMap kube-public/%s", configMapName))
	}
	return problems
}

// cluster is the cluster that the registry belongs to, nil when it is gone.
func (w registryWork) cluster(ctx context.Context) (*nodes, error) {
	n, err := w.nodesOf(ctx, w.args.ClusterName)
	if err != nil || !n.hasControlPlane() || n.mark.uid != w.args.ClusterUID {
		return nil, err
	}
	return &n, nil
}

// kubectl runs on a control plane, which has it and may do everything.
func (w registryWork) kubectl(ctx context.Context, n *nodes, stdin string, args ...string) (string, error) {
	command := append([]string{"kubectl", "--kubeconfig=/etc/kubernetes/admin.conf"}, args...)
	if stdin == "" {
		return w.Containers.Exec(ctx, n.of(controlPlane)[0].Name, nil, command...)
	}
	return w.Containers.Exec(ctx, n.of(controlPlane)[0].Name, strings.NewReader(stdin), command...)
}
