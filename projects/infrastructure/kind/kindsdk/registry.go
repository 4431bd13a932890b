package kindsdk

import (
	"errors"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Registry is a container registry on this machine that a Cluster's nodes pull
// from. Beside the container it writes the nodes' hosts.toml for the endpoint
// and the ConfigMap kube-public/local-registry-hosting.
type Registry struct {
	pulumi.CustomResourceState

	Name        pulumi.StringOutput      `pulumi:"name"`
	Image       pulumi.StringOutput      `pulumi:"image"`
	HostAddress pulumi.StringOutput      `pulumi:"hostAddress"`
	HostPort    pulumi.IntOutput         `pulumi:"hostPort"`
	Network     pulumi.StringOutput      `pulumi:"network"`
	ClusterName pulumi.StringOutput      `pulumi:"clusterName"`
	ClusterUID  pulumi.StringOutput      `pulumi:"clusterUid"`
	NodeNames   pulumi.StringArrayOutput `pulumi:"nodeNames"`
	Labels      pulumi.StringMapOutput   `pulumi:"labels"`

	// Endpoint is how this machine and the nodes name the registry: localhost:5001.
	Endpoint pulumi.StringOutput `pulumi:"endpoint"`
	// InternalEndpoint is how containers on the network reach it: NAME:5000.
	InternalEndpoint pulumi.StringOutput `pulumi:"internalEndpoint"`
	// ContainerID is the id of the registry's container.
	ContainerID pulumi.StringOutput `pulumi:"containerId"`
	// Problems are what a refresh has found wrong; the next update mends it.
	Problems pulumi.StringArrayOutput `pulumi:"problems"`
}

type registryArgs struct {
	// The name of the container, and its host name on the network.
	Name string `pulumi:"name" provider:"replaceOnChanges"`
	// The image of the registry.
	Image string `pulumi:"image" provider:"replaceOnChanges"`
	// The address of this machine that the registry listens on; 127.0.0.1 when nil.
	HostAddress *string `pulumi:"hostAddress" provider:"replaceOnChanges"`
	// The port of this machine that the registry listens on.
	HostPort int `pulumi:"hostPort" provider:"replaceOnChanges"`
	// The container network of the cluster's nodes.
	Network string `pulumi:"network"`
	// The name of the cluster whose nodes pull from the registry.
	ClusterName string `pulumi:"clusterName"`
	// The UID of that cluster: nodes of a cluster created anew are wired again.
	ClusterUID string `pulumi:"clusterUid"`
	// The names of the node containers to wire.
	NodeNames []string `pulumi:"nodeNames"`
	// Labels of the container.
	Labels map[string]string `pulumi:"labels" provider:"replaceOnChanges"`
}

// RegistryArgs are the inputs of Registry.
type RegistryArgs struct {
	// Name is the name of the container, and its host name on the network.
	Name pulumi.StringInput
	// Image is the image of the registry.
	Image pulumi.StringInput
	// HostAddress is the address of this machine that the registry listens on; 127.0.0.1 when nil.
	HostAddress pulumi.StringPtrInput
	// HostPort is the port of this machine that the registry listens on.
	HostPort pulumi.IntInput
	// Network is the container network of the cluster's nodes.
	Network pulumi.StringInput
	// ClusterName is the name of the cluster whose nodes pull from the registry.
	ClusterName pulumi.StringInput
	// ClusterUID is the UID of that cluster: nodes of a cluster created anew are wired again.
	ClusterUID pulumi.StringInput
	// NodeNames are the names of the node containers to wire.
	NodeNames pulumi.StringArrayInput
	// Labels are put on the container.
	Labels pulumi.StringMapInput
}

// ElementType is the struct behind the inputs.
func (RegistryArgs) ElementType() reflect.Type {
	return reflect.TypeFor[registryArgs]()
}

// NewRegistry registers a registry.
func NewRegistry(
	ctx *pulumi.Context, name string, args *RegistryArgs, opts ...pulumi.ResourceOption,
) (*Registry, error) {
	if args == nil || args.Name == nil || args.Image == nil || args.HostPort == nil ||
		args.Network == nil || args.ClusterName == nil || args.ClusterUID == nil {
		return nil, errors.New(
			"a kind registry needs the arguments Name, Image, HostPort, Network, ClusterName and ClusterUID")
	}
	var resource Registry
	if err := ctx.RegisterResource(RegistryToken, name, args, &resource, opts...); err != nil {
		return nil, err
	}
	return &resource, nil
}
