// Package kindsdk is the Go SDK of the resource provider "kind": clusters in
// containers on this machine (kind.sigs.k8s.io) and a registry beside them. The
// provider says what each input and output means; a test holds the inputs here
// equal to its own. It has only the outputs that programs read.
package kindsdk

import (
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/inputs"
)

// The type tokens of the provider's resources.
const (
	ClusterToken  = "kind:index:Cluster"
	RegistryToken = "kind:index:Registry"
	ProviderToken = "pulumi:providers:kind"
)

// Cluster is a Kubernetes cluster whose nodes are containers on this machine.
type Cluster struct {
	pulumi.CustomResourceState

	Name       pulumi.StringOutput      `pulumi:"name"`
	Kubeconfig pulumi.StringOutput      `pulumi:"kubeconfig"`
	Endpoint   pulumi.StringOutput      `pulumi:"endpoint"`
	NodeNames  pulumi.StringArrayOutput `pulumi:"nodeNames"`
	Network    pulumi.StringOutput      `pulumi:"network"`
	UID        pulumi.StringOutput      `pulumi:"uid"`
}

// ClusterArgs are the inputs of Cluster.
type ClusterArgs struct {
	Name             pulumi.StringInput      `pulumi:"name"`
	NodeImage        pulumi.StringInput      `pulumi:"nodeImage"`
	ControlPlanes    pulumi.IntPtrInput      `pulumi:"controlPlanes"`
	Workers          pulumi.IntPtrInput      `pulumi:"workers"`
	ListenAddress    pulumi.StringPtrInput   `pulumi:"listenAddress"`
	HTTPPort         pulumi.IntPtrInput      `pulumi:"httpPort"`
	HTTPSPort        pulumi.IntPtrInput      `pulumi:"httpsPort"`
	APIServerAddress pulumi.StringPtrInput   `pulumi:"apiServerAddress"`
	APIServerPort    pulumi.IntPtrInput      `pulumi:"apiServerPort"`
	PodSubnet        pulumi.StringPtrInput   `pulumi:"podSubnet"`
	ServiceSubnet    pulumi.StringPtrInput   `pulumi:"serviceSubnet"`
	Mounts           pulumi.MapArrayInput    `pulumi:"mounts"` // of hostPath, containerPath and readOnly
	RegistryMirrors  pulumi.StringMapInput   `pulumi:"registryMirrors"`
	Preload          pulumi.StringArrayInput `pulumi:"preload"`
	Labels           pulumi.StringMapInput   `pulumi:"labels"`
	WaitSeconds      pulumi.IntPtrInput      `pulumi:"waitSeconds"`
}

// NewCluster registers a cluster.
func NewCluster(ctx *pulumi.Context, name string, args *ClusterArgs, opts ...pulumi.ResourceOption) (*Cluster, error) {
	if args.Name == nil || args.NodeImage == nil {
		return nil, errors.New("a kind cluster needs the arguments Name and NodeImage")
	}
	cluster := &Cluster{}
	opts = append(opts, pulumi.AdditionalSecretOutputs([]string{"kubeconfig"}))
	return cluster, ctx.RegisterResource(ClusterToken, name, inputs.Of(*args), cluster, opts...)
}

// Registry is a container registry on this machine that a Cluster's nodes pull from.
type Registry struct {
	pulumi.CustomResourceState

	Endpoint         pulumi.StringOutput `pulumi:"endpoint"`
	InternalEndpoint pulumi.StringOutput `pulumi:"internalEndpoint"`
}

// RegistryArgs are the inputs of Registry.
type RegistryArgs struct {
	Name        pulumi.StringInput      `pulumi:"name"`
	Image       pulumi.StringInput      `pulumi:"image"`
	HostAddress pulumi.StringPtrInput   `pulumi:"hostAddress"`
	HostPort    pulumi.IntInput         `pulumi:"hostPort"`
	Network     pulumi.StringInput      `pulumi:"network"`
	ClusterName pulumi.StringInput      `pulumi:"clusterName"`
	ClusterUID  pulumi.StringInput      `pulumi:"clusterUid"`
	NodeNames   pulumi.StringArrayInput `pulumi:"nodeNames"`
	Labels      pulumi.StringMapInput   `pulumi:"labels"`
}

// NewRegistry registers a registry.
func NewRegistry(
	ctx *pulumi.Context, name string, args *RegistryArgs, opts ...pulumi.ResourceOption,
) (*Registry, error) {
	if args.Name == nil || args.Image == nil || args.HostPort == nil ||
		args.Network == nil || args.ClusterName == nil || args.ClusterUID == nil {
		return nil, errors.New(
			"a kind registry needs the arguments Name, Image, HostPort, Network, ClusterName and ClusterUID")
	}
	registry := &Registry{}
	return registry, ctx.RegisterResource(RegistryToken, name, inputs.Of(*args), registry, opts...)
}

// Provider talks to one container runtime on this machine.
//
// Programs make one explicitly rather than use the default provider: Pulumi
// hands a default provider every configuration key of its package's namespace,
// and the keys below "kind:" belong to the programs.
type Provider struct{ pulumi.ProviderResourceState }

// ProviderArgs are the inputs of Provider.
type ProviderArgs struct {
	Runtime pulumi.StringPtrInput `pulumi:"runtime"` // nil takes the one found first
}

// NewProvider registers a provider for a container runtime, or with "" for the one
// found first.
func NewProvider(ctx *pulumi.Context, name, runtime string, opts ...pulumi.ResourceOption) (*Provider, error) {
	args := ProviderArgs{}
	if runtime != "" {
		args.Runtime = pulumi.String(runtime)
	}
	provider := &Provider{}
	return provider, ctx.RegisterResource(ProviderToken, name, inputs.Of(args), provider, opts...)
}
