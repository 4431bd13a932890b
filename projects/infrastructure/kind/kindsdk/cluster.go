package kindsdk

import (
	"errors"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Cluster is a Kubernetes cluster whose nodes are containers on this machine.
type Cluster struct {
	pulumi.CustomResourceState

	Name             pulumi.StringOutput      `pulumi:"name"`
	NodeImage        pulumi.StringOutput      `pulumi:"nodeImage"`
	ControlPlanes    pulumi.IntOutput         `pulumi:"controlPlanes"`
	Workers          pulumi.IntOutput         `pulumi:"workers"`
	ListenAddress    pulumi.StringOutput      `pulumi:"listenAddress"`
	HTTPPort         pulumi.IntPtrOutput      `pulumi:"httpPort"`
	HTTPSPort        pulumi.IntPtrOutput      `pulumi:"httpsPort"`
	APIServerAddress pulumi.StringOutput      `pulumi:"apiServerAddress"`
	APIServerPort    pulumi.IntPtrOutput      `pulumi:"apiServerPort"`
	PodSubnet        pulumi.StringPtrOutput   `pulumi:"podSubnet"`
	ServiceSubnet    pulumi.StringPtrOutput   `pulumi:"serviceSubnet"`
	Mounts           ClusterMountArrayOutput  `pulumi:"mounts"`
	RegistryMirrors  pulumi.StringMapOutput   `pulumi:"registryMirrors"`
	Preload          pulumi.StringArrayOutput `pulumi:"preload"`
	Labels           pulumi.StringMapOutput   `pulumi:"labels"`
	WaitSeconds      pulumi.IntOutput         `pulumi:"waitSeconds"`

	// Kubeconfig reaches the API server from this machine, with an administrator's client certificate: secret.
	Kubeconfig pulumi.StringOutput `pulumi:"kubeconfig"`
	// Endpoint is the URL of the API server.
	Endpoint pulumi.StringOutput `pulumi:"endpoint"`
	// NodeNames are the names of the node containers, control planes first.
	NodeNames pulumi.StringArrayOutput `pulumi:"nodeNames"`
	// Network is the container network that the nodes are joined to.
	Network pulumi.StringOutput `pulumi:"network"`
	// UID tells this cluster from one that is created later under the same name.
	UID pulumi.StringOutput `pulumi:"uid"`
	// Problems are what a refresh has found wrong; the next update mends it.
	Problems pulumi.StringArrayOutput `pulumi:"problems"`
}

type clusterArgs struct {
	// The name of the cluster; its context in a kubeconfig is "kind-" and this name.
	Name string `pulumi:"name" provider:"replaceOnChanges"`
	// The node image, with its digest.
	NodeImage string `pulumi:"nodeImage" provider:"replaceOnChanges"`
	// How many control-plane nodes; 1 when nil.
	ControlPlanes *int `pulumi:"controlPlanes" provider:"replaceOnChanges"`
	// How many worker nodes; 0 when nil: the only control-plane node then takes the workload.
	Workers *int `pulumi:"workers" provider:"replaceOnChanges"`
	// The address of this machine that HTTPPort and HTTPSPort listen on; 127.0.0.1 when nil.
	ListenAddress *string `pulumi:"listenAddress" provider:"replaceOnChanges"`
	// The port of this machine that leads to port 80 of the first node that takes workload; none when nil.
	HTTPPort *int `pulumi:"httpPort" provider:"replaceOnChanges"`
	// The port of this machine that leads to port 443 of the first node that takes workload; none when nil.
	HTTPSPort *int `pulumi:"httpsPort" provider:"replaceOnChanges"`
	// The address of this machine that the API server listens on; 127.0.0.1 when nil.
	APIServerAddress *string `pulumi:"apiServerAddress" provider:"replaceOnChanges"`
	// The port of this machine that the API server listens on; a free one when nil.
	APIServerPort *int `pulumi:"apiServerPort" provider:"replaceOnChanges"`
	// The range of pod addresses; kind's own default when nil.
	PodSubnet *string `pulumi:"podSubnet" provider:"replaceOnChanges"`
	// The range of service addresses; kind's own default when nil.
	ServiceSubnet *string `pulumi:"serviceSubnet" provider:"replaceOnChanges"`
	// Folders of this machine to mount into every node.
	Mounts []ClusterMount `pulumi:"mounts" provider:"replaceOnChanges"`
	// Registry host to the URL that the nodes pull its images from instead.
	RegistryMirrors map[string]string `pulumi:"registryMirrors"`
	// Images of this machine to load into every node.
	Preload []string `pulumi:"preload"`
	// Labels of every node.
	Labels map[string]string `pulumi:"labels" provider:"replaceOnChanges"`
	// How many seconds to wait for the nodes to be ready; 300 when nil.
	WaitSeconds *int `pulumi:"waitSeconds"`
}

// ClusterArgs are the inputs of Cluster.
type ClusterArgs struct {
	// Name is the name of the cluster; its context in a kubeconfig is "kind-" and this name.
	Name pulumi.StringInput
	// NodeImage is the node image, with its digest.
	NodeImage pulumi.StringInput
	// ControlPlanes is how many control-plane nodes; 1 when nil.
	ControlPlanes pulumi.IntPtrInput
	// Workers is how many worker nodes; 0 when nil: the only control-plane node then takes the workload.
	Workers pulumi.IntPtrInput
	// ListenAddress is the address of this machine that HTTPPort and HTTPSPort listen on; 127.0.0.1 when nil.
	ListenAddress pulumi.StringPtrInput
	// HTTPPort is the port of this machine that leads to port 80 of the first node that takes workload; none when nil.
	HTTPPort pulumi.IntPtrInput
	// HTTPSPort is the port of this machine that leads to port 443 of the first node that takes workload; none when nil.
	HTTPSPort pulumi.IntPtrInput
	// APIServerAddress is the address of this machine that the API server listens on; 127.0.0.1 when nil.
	APIServerAddress pulumi.StringPtrInput
	// APIServerPort is the port of this machine that the API server listens on; a free one when nil.
	APIServerPort pulumi.IntPtrInput
	// PodSubnet is the range of pod addresses; kind's own default when nil.
	PodSubnet pulumi.StringPtrInput
	// ServiceSubnet is the range of service addresses; kind's own default when nil.
	ServiceSubnet pulumi.StringPtrInput
	// Mounts are the folders of this machine to mount into every node.
	Mounts ClusterMountArrayInput
	// RegistryMirrors maps a registry host to the URL that the nodes pull its images from instead.
	RegistryMirrors pulumi.StringMapInput
	// Preload lists images of this machine to load into every node.
	Preload pulumi.StringArrayInput
	// Labels are put on every node.
	Labels pulumi.StringMapInput
	// WaitSeconds is how long to wait for the nodes to be ready; 300 when nil.
	WaitSeconds pulumi.IntPtrInput
}

// ElementType is the struct behind the inputs.
func (ClusterArgs) ElementType() reflect.Type {
	return reflect.TypeFor[clusterArgs]()
}

// NewCluster registers a cluster.
func NewCluster(
	ctx *pulumi.Context, name string, args *ClusterArgs, opts ...pulumi.ResourceOption,
) (*Cluster, error) {
	if args == nil || args.Name == nil || args.NodeImage == nil {
		return nil, errors.New("a kind cluster needs the arguments Name and NodeImage")
	}
	var resource Cluster
	err := ctx.RegisterResource(ClusterToken, name, args, &resource, secretOutputs(opts, "kubeconfig")...)
	if err != nil {
		return nil, err
	}
	return &resource, nil
}
