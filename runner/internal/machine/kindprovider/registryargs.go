package kindprovider

import (
	"context"
	"fmt"
	"net"
	"strconv"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
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
