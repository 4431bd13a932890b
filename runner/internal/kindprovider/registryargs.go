package kindprovider

import (
	"context"
	"fmt"
	"net"
	"strconv"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
)

// RegistryArgs are the inputs of a registry. Names, types, what is optional,
// what replaces and the descriptions are those of the SDK; a test holds them
// equal.
type RegistryArgs struct {
	Name        string            `pulumi:"name" provider:"replaceOnChanges"`
	Image       string            `pulumi:"image" provider:"replaceOnChanges"`
	HostAddress *string           `pulumi:"hostAddress,optional" provider:"replaceOnChanges"`
	HostPort    int               `pulumi:"hostPort" provider:"replaceOnChanges"`
	Network     string            `pulumi:"network"`
	ClusterName string            `pulumi:"clusterName"`
	ClusterUID  string            `pulumi:"clusterUid"`
	NodeNames   []string          `pulumi:"nodeNames,optional"`
	Labels      map[string]string `pulumi:"labels,optional" provider:"replaceOnChanges"`
}

// Annotate implements infer.Annotated.
func (r *RegistryArgs) Annotate(a infer.Annotator) {
	a.Describe(&r.Name, "The name of the container, and its host name on the network.")
	a.Describe(&r.Image, "The image of the registry.")
	a.Describe(&r.HostAddress, "The address of this machine that the registry listens on; 127.0.0.1 when nil.")
	a.Describe(&r.HostPort, "The port of this machine that the registry listens on.")
	a.Describe(&r.Network, "The container network of the cluster's nodes.")
	a.Describe(&r.ClusterName, "The name of the cluster whose nodes pull from the registry.")
	a.Describe(&r.ClusterUID, "The UID of that cluster: nodes of a cluster created anew are wired again.")
	a.Describe(&r.NodeNames, "The names of the node containers to wire.")
	a.Describe(&r.Labels, "Labels of the container.")
	a.SetDefault(&r.HostAddress, loopback)
}

// RegistryState is all that is known of a registry.
type RegistryState struct {
	RegistryArgs

	Endpoint         string `pulumi:"endpoint"`
	InternalEndpoint string `pulumi:"internalEndpoint"`
	ContainerID      string `pulumi:"containerId"`
}

// Annotate implements infer.Annotated.
func (s *RegistryState) Annotate(a infer.Annotator) {
	a.Describe(&s.Endpoint, "Endpoint is how this machine and the nodes name the registry: localhost:5001.")
	a.Describe(&s.InternalEndpoint, "InternalEndpoint is how containers on the network reach it: NAME:5000.")
	a.Describe(&s.ContainerID, "ContainerID is the id of the registry's container.")
}

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

// state is what follows from the inputs.
func (r RegistryArgs) state(containerID string) RegistryState {
	return RegistryState{
		RegistryArgs: r, ContainerID: containerID, Endpoint: r.endpoint(),
		InternalEndpoint: net.JoinHostPort(r.Name, strconv.Itoa(registryPort)),
	}
}

func (r RegistryArgs) endpoint() string {
	return net.JoinHostPort("localhost", strconv.Itoa(r.HostPort))
}

// url is where this machine finds the registry's API.
func (r RegistryArgs) url() string {
	host := *r.HostAddress
	if host == "0.0.0.0" || host == "::" {
		host = loopback
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(r.HostPort)) + "/v2/"
}
