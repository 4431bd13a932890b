package eks

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/aws/internal/environment"
)

// makeNodes declares the node group. It gets its name from EKS, so that a
// group that replaces another is there before the other one goes.
func (b *builder) makeNodes(
	cluster *eks.Cluster, subnets pulumi.StringArrayInput, needs []pulumi.Resource,
) (*eks.NodeGroup, error) {
	granted, err := b.makeRole("eks-nodes", trust{service: "ec2.amazonaws.com"},
		"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly")
	if err != nil {
		return nil, err
	}
	group := b.nodes
	return eks.NewNodeGroup(b.Context, "nodes", &eks.NodeGroupArgs{
		ClusterName:         cluster.Name,
		NodeGroupNamePrefix: pulumi.String("nodes-"),
		NodeRoleArn:         granted.arn,
		SubnetIds:           subnets,
		Version:             cluster.Version,
		AmiType:             pulumi.String(group.amiType),
		CapacityType:        pulumi.String(group.capacityType),
		InstanceTypes:       pulumi.ToStringArray([]string{group.instanceType}),
		DiskSize:            pulumi.Int(group.diskSize),
		ScalingConfig: eks.NodeGroupScalingConfigArgs{
			MinSize:     pulumi.Int(group.smallest),
			MaxSize:     pulumi.Int(group.largest),
			DesiredSize: pulumi.Int(group.desired),
		},
		UpdateConfig: eks.NodeGroupUpdateConfigArgs{MaxUnavailable: pulumi.Int(1)},
		Tags:         environment.Tags(b.Context, b.name+"-nodes"),
	}, pulumi.DependsOn(append(needs, granted.permissions...)))
}
