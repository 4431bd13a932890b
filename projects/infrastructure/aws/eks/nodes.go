package eks

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
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
	args := b.nodesArgs(cluster, subnets, granted, "nodes")
	args.AmiType = pulumi.String(b.cfg.String("eks:ami_type"))
	args.CapacityType = pulumi.String(b.cfg.String("eks:capacity_type"))
	args.InstanceTypes = pulumi.ToStringArray([]string{b.cfg.String("eks:instance_type")})
	args.ScalingConfig = eks.NodeGroupScalingConfigArgs{
		MinSize:     pulumi.Int(b.cfg.Int("eks:min_size")),
		MaxSize:     pulumi.Int(b.cfg.Int("eks:max_size")),
		DesiredSize: pulumi.Int(b.cfg.Int("eks:desired_capacity")),
	}
	options := b.nodesOptions(append(needs, granted.permissions...))
	for _, pool := range projects.EKSPools(b.cfg.Map("eks:pools")) { // a rule of the project has judged them
		if err := b.makePool(pool, b.nodesArgs(cluster, subnets, granted, pool.Name), options); err != nil {
			return nil, err
		}
	}
	return eks.NewNodeGroup(b.Context, "nodes", args, options...)
}

// nodesArgs returns what all groups of nodes have in common.
func (b *builder) nodesArgs(
	cluster *eks.Cluster, subnets pulumi.StringArrayInput, granted role, name string,
) *eks.NodeGroupArgs {
	version := pulumi.StringPtrInput(cluster.Version)
	if own := b.cfg.String("eks:node_version"); own != "" {
		version = pulumi.String(own)
	}
	return &eks.NodeGroupArgs{
		ClusterName:         cluster.Name,
		NodeGroupNamePrefix: pulumi.String(name + "-"),
		NodeRoleArn:         granted.arn,
		SubnetIds:           subnets,
		Version:             version,
		DiskSize:            pulumi.Int(b.cfg.Int("eks:disk_size")),
		UpdateConfig:        eks.NodeGroupUpdateConfigArgs{MaxUnavailable: pulumi.Int(1)},
		Tags:                environment.Tags(b.Context, b.name+"-"+name),
	}
}

// nodesOptions returns the options of all groups of nodes. Where the cluster autoscaler decides on the number
// of nodes, an up does not undo it.
func (b *builder) nodesOptions(needs []pulumi.Resource) []pulumi.ResourceOption {
	options := []pulumi.ResourceOption{pulumi.DependsOn(needs)}
	if b.autoscaled() {
		options = append(options, pulumi.IgnoreChanges([]string{"scalingConfig.desiredSize"}))
	}
	return options
}

// makePool declares a further pool of nodes.
func (b *builder) makePool(pool projects.Pool, args *eks.NodeGroupArgs, options []pulumi.ResourceOption) error {
	least, most, size := pool.Min, pool.Max, max(pool.Min, 1)
	if !pool.Scaled() {
		least, most, size = pool.Count, pool.Count, pool.Count
	}
	args.AmiType, args.CapacityType = pulumi.String("AL2023_x86_64_STANDARD"), pulumi.String("ON_DEMAND")
	if pool.Architecture == "arm64" {
		args.AmiType = pulumi.String("AL2023_ARM_64_STANDARD")
	}
	if pool.Spot {
		args.CapacityType = pulumi.String("SPOT")
	}
	args.InstanceTypes = pulumi.ToStringArray([]string{pool.Size})
	args.ScalingConfig = eks.NodeGroupScalingConfigArgs{
		MinSize: pulumi.Int(least), MaxSize: pulumi.Int(most), DesiredSize: pulumi.Int(size),
	}
	args.Labels = pulumi.ToStringMap(pool.Labels)
	var taints eks.NodeGroupTaintArray
	for _, taint := range pool.Taints {
		taints = append(taints, eks.NodeGroupTaintArgs{
			Key: pulumi.String(taint.Key), Value: pulumi.String(taint.Value), Effect: pulumi.String(effect(taint.Effect)),
		})
	}
	args.Taints = taints
	_, err := eks.NewNodeGroup(b.Context, "pool-"+pool.Name, args, options...)
	return err
}

// effect returns the effect of a taint as EKS spells it.
func effect(name string) string {
	return map[string]string{
		"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE",
	}[name]
}
