package kindprovider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"

	"mara/runner/internal/feature/kind/kindnodes"
)

// RegistryArgs are the inputs of a registry. A test holds the SDK's to them.
type RegistryArgs struct {
	Name        string            `pulumi:"name" provider:"replaceOnChanges" doc:"The name of the container, and its host name on the network."`
	Image       string            `pulumi:"image" provider:"replaceOnChanges" doc:"The image of the registry."`
	HostAddress *string           `pulumi:"hostAddress,optional" provider:"replaceOnChanges" doc:"The address of this machine that the registry listens on; 127.0.0.1 when nil."`
	HostPort    int               `pulumi:"hostPort" provider:"replaceOnChanges" doc:"The port of this machine that the registry listens on."`
	Network     string            `pulumi:"network" doc:"The container network of the cluster's nodes."`
	ClusterName string            `pulumi:"clusterName" doc:"The name of the cluster whose nodes pull from the registry."`
	ClusterUID  string            `pulumi:"clusterUid" doc:"The UID of that cluster: nodes of a cluster created anew are wired again."`
	NodeNames   []string          `pulumi:"nodeNames,optional" doc:"The names of the node containers to wire."`
	Labels      map[string]string `pulumi:"labels,optional" provider:"replaceOnChanges" doc:"Labels of the container."`
}

// Annotate implements infer.Annotated.
func (r *RegistryArgs) Annotate(a infer.Annotator) {
	describe(a, r)
	a.SetDefault(&r.HostAddress, loopback)
}

// RegistryState is what Pulumi keeps of a registry.
type RegistryState struct {
	RegistryArgs

	Endpoint         string   `pulumi:"endpoint" doc:"Endpoint is how this machine and the nodes name the registry: localhost:5001."`
	InternalEndpoint string   `pulumi:"internalEndpoint" doc:"InternalEndpoint is how containers on the network reach it: NAME:5000."`
	ContainerID      string   `pulumi:"containerId" doc:"ContainerID is the id of the registry's container."`
	Problems         []string `pulumi:"problems,optional" doc:"Problems are what a refresh has found wrong; the next update mends it."`
}

// Annotate implements infer.Annotated.
func (s *RegistryState) Annotate(a infer.Annotator) { describe(a, s) }

// Check implements infer.CustomCheck.
func (*Registry) Check(ctx context.Context, req infer.CheckRequest) (infer.CheckResponse[RegistryArgs], error) {
	args, failures, err := infer.DefaultCheck[RegistryArgs](ctx, req.NewInputs)
	if err == nil && len(failures) == 0 && known(req, "hostPort") && (args.HostPort < 1 || args.HostPort > 65535) {
		failures = append(failures, p.CheckFailure{Property: "hostPort", Reason: fmt.Sprintf("%d is no port", args.HostPort)})
	}
	return infer.CheckResponse[RegistryArgs]{Inputs: args, Failures: failures}, err
}

// registryPort is where a registry listens in its container.
const registryPort = 5000

// state returns the state that follows from the inputs.
func (r RegistryArgs) state(containerID string) RegistryState {
	return RegistryState{
		RegistryArgs: r, ContainerID: containerID, Endpoint: r.endpoint(),
		InternalEndpoint: net.JoinHostPort(r.Name, strconv.Itoa(registryPort)),
	}
}

func (r RegistryArgs) endpoint() string {
	return net.JoinHostPort("localhost", strconv.Itoa(r.HostPort))
}

// url returns the address of the registry's API on this machine.
func (r RegistryArgs) url() string {
	host := *r.HostAddress
	if host == "0.0.0.0" || host == "::" {
		host = loopback
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(r.HostPort)) + "/v2/"
}

// The wires of a registry make the cluster use it. On every node a file sends
// containerd to the registry's container for images that are named after the
// port of this machine. A ConfigMap tells tools where to push (KEP-1755).

func (r RegistryArgs) hostsFile() string { return path.Join(hostsDir, r.endpoint(), "hosts.toml") }

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
	if err := w.awaitReady(ctx, n); err != nil {
		return err
	}
	if _, err := n.Kubectl(ctx, w.Containers, strings.NewReader(w.args.configMap()), "apply", "-f", "-"); err != nil {
		return fmt.Errorf("making the ConfigMap kube-public/%s: %w", configMapName, err)
	}
	return nil
}

// awaitReady waits for the API server. The runtime starts nodes by itself when it
// is restarted, and a running node does not tell since when it runs.
func (w registryWork) awaitReady(ctx context.Context, n *nodes) error {
	if err := n.AwaitReady(ctx, w.Containers, kindnodes.ReadyLimit); err != nil {
		return fmt.Errorf("the cluster %s is not ready: %w", w.args.ClusterName, explain(err))
	}
	return nil
}

// unwire removes what wire has made from a cluster that is still there.
func (w registryWork) unwire(ctx context.Context) error {
	n, err := w.cluster(ctx)
	if err != nil || n == nil {
		return err
	}
	if err := w.awaitReady(ctx, n); err != nil {
		return err
	}
	_, err = n.Kubectl(ctx, w.Containers, nil,
		"delete", "configmap", "--namespace=kube-public", "--ignore-not-found", configMapName)
	problems := []error{err}
	for _, node := range w.args.NodeNames {
		if slices.Contains(n.Names(), node) {
			_, err := w.Containers.Exec(ctx, node, nil, "rm", "-rf", path.Dir(w.args.hostsFile()))
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// checkWires finds out which wires are missing. A cluster that is gone or halted
// needs none: that is a problem of its own.
func (w registryWork) checkWires(ctx context.Context) []error {
	n, err := w.cluster(ctx)
	if err != nil {
		return []error{err}
	}
	if n == nil || len(n.halted()) > 0 {
		return nil
	}
	var problems []error
	for _, node := range w.args.NodeNames {
		switch content, _, err := w.readFile(ctx, node, w.args.hostsFile()); {
		case err != nil:
			problems = append(problems, err)
		case content != w.args.hosts():
			problems = append(problems, fmt.Errorf("the node %s does not know the registry", node))
		}
	}
	found, err := n.Kubectl(ctx, w.Containers, nil,
		"get", "configmap", "--namespace=kube-public", "--ignore-not-found", "--output=name", configMapName)
	switch {
	case err != nil:
		problems = append(problems, fmt.Errorf(
			"asking the cluster %s for the ConfigMap kube-public/%s: %w", w.args.ClusterName, configMapName, err))
	case found == "":
		problems = append(problems, fmt.Errorf("the cluster has no ConfigMap kube-public/%s", configMapName))
	}
	return problems
}

// cluster finds the cluster that the registry belongs to; nil when it is gone.
func (w registryWork) cluster(ctx context.Context) (*nodes, error) {
	n, err := w.nodesOf(ctx, w.args.ClusterName)
	if err != nil || !n.hasControlPlane() || n.mark.uid != w.args.ClusterUID {
		return nil, err
	}
	return &n, nil
}
