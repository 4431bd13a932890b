package kindsdk

import (
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Provider talks to one container runtime on this machine.
//
// Programs make one explicitly rather than use the default provider: Pulumi
// hands a default provider every configuration key of its package's namespace,
// and the keys below "kind:" belong to the programs.
type Provider struct {
	pulumi.ProviderResourceState

	// Runtime is the container runtime, when it was given.
	Runtime pulumi.StringPtrOutput `pulumi:"runtime"`
}

type providerArgs struct {
	// The container runtime: docker, podman or nerdctl. The one found first when nil.
	Runtime *string `pulumi:"runtime"`
}

// ProviderArgs are the inputs of Provider.
type ProviderArgs struct {
	// Runtime is docker, podman or nerdctl; nil takes the one found first.
	Runtime pulumi.StringPtrInput
}

// ElementType is the struct behind the inputs.
func (ProviderArgs) ElementType() reflect.Type {
	return reflect.TypeFor[providerArgs]()
}

// NewProvider registers a provider.
func NewProvider(
	ctx *pulumi.Context, name string, args *ProviderArgs, opts ...pulumi.ResourceOption,
) (*Provider, error) {
	if args == nil {
		args = &ProviderArgs{}
	}
	var resource Provider
	if err := ctx.RegisterResource(ProviderToken, name, args, &resource, opts...); err != nil {
		return nil, err
	}
	return &resource, nil
}
