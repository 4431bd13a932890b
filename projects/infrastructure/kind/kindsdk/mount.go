package kindsdk

import (
	"context"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// ClusterMount is a folder of this machine that every node sees.
type ClusterMount struct {
	// HostPath is the folder on this machine.
	HostPath string `pulumi:"hostPath"`
	// ContainerPath is where the nodes see it.
	ContainerPath string `pulumi:"containerPath"`
	// ReadOnly keeps the nodes from writing to it; false when nil.
	ReadOnly *bool `pulumi:"readOnly"`
}

// ClusterMountInput is a ClusterMount that may be known only later.
type ClusterMountInput interface {
	pulumi.Input

	ToClusterMountOutputWithContext(context.Context) ClusterMountOutput
}

// ClusterMountArgs is a ClusterMount made of inputs.
type ClusterMountArgs struct {
	HostPath      pulumi.StringInput  `pulumi:"hostPath"`
	ContainerPath pulumi.StringInput  `pulumi:"containerPath"`
	ReadOnly      pulumi.BoolPtrInput `pulumi:"readOnly"`
}

// ElementType is the plain type behind the input.
func (ClusterMountArgs) ElementType() reflect.Type {
	return reflect.TypeFor[ClusterMount]()
}

// ToClusterMountOutputWithContext lifts the mount.
func (a ClusterMountArgs) ToClusterMountOutputWithContext(ctx context.Context) ClusterMountOutput {
	return pulumi.ToOutputWithContext(ctx, a).(ClusterMountOutput)
}

// ClusterMountOutput is a ClusterMount that is known later.
type ClusterMountOutput struct{ *pulumi.OutputState }

// ElementType is the plain type behind the output.
func (ClusterMountOutput) ElementType() reflect.Type {
	return reflect.TypeFor[ClusterMount]()
}

// ClusterMountArrayInput is a list of mounts that may be known only later.
type ClusterMountArrayInput interface {
	pulumi.Input

	ToClusterMountArrayOutputWithContext(context.Context) ClusterMountArrayOutput
}

// ClusterMountArray is a list of mounts.
type ClusterMountArray []ClusterMountInput

// ElementType is the plain type behind the input.
func (ClusterMountArray) ElementType() reflect.Type {
	return reflect.TypeFor[[]ClusterMount]()
}

// ToClusterMountArrayOutputWithContext lifts the list.
func (a ClusterMountArray) ToClusterMountArrayOutputWithContext(ctx context.Context) ClusterMountArrayOutput {
	return pulumi.ToOutputWithContext(ctx, a).(ClusterMountArrayOutput)
}

// ClusterMountArrayOutput is a list of mounts that is known later.
type ClusterMountArrayOutput struct{ *pulumi.OutputState }

// ElementType is the plain type behind the output.
func (ClusterMountArrayOutput) ElementType() reflect.Type {
	return reflect.TypeFor[[]ClusterMount]()
}
