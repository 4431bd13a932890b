// Package eks is the project "aws-eks": a managed Kubernetes cluster on the
// private subnets of the environment's network, with its roles, nodes, add-ons
// and access.
//
// The order matters twice. Networking add-ons come before the nodes, which are
// not ready without them; add-ons that run on nodes come after. And whatever
// the control plane or the nodes need in order to clean up after themselves,
// such as their roles' permissions, is destroyed after them.
package eks

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/aws/internal/environment"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// Program declares the cluster.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.AWSEKS())
	if err := cfg.Err(); err != nil {
		return err
	}
	where, err := locate(ctx)
	if err != nil {
		return err
	}
	network := stackref.New(ctx, projects.AWSVPC().Name)
	subnets := network.StringList("private_subnet_ids").ApplyT(contain.Try(enoughZones)).(pulumi.StringArrayOutput)

	b := &builder{
		Context: ctx, cfg: cfg, partition: where.partition, name: environment.ClusterName(ctx.Stack()),
	}
	cluster, err := b.makeCluster(subnets)
	if err != nil {
		return err
	}
	if err := b.makeAccess(cluster); err != nil {
		return err
	}
	if err := b.makeWorkers(cluster, subnets); err != nil {
		return err
	}
	if err := b.makeWorkloads(cluster); err != nil {
		return err
	}
	ctx.Export("kubeconfig", kubeconfig(cluster, where.region, cfg.String("aws:profile")))
	ctx.Export("cluster_name", cluster.Name)
	ctx.Export("cluster_endpoint", cluster.Endpoint)
	ctx.Export("cluster_version", cluster.Version)
	ctx.Export("region", pulumi.String(where.region))
	return nil
}

// builder is what every part of the cluster needs to know.
type builder struct {
	*pulumi.Context
	cfg       *settings.Settings
	partition string // of AWS: aws, aws-cn, aws-us-gov
	name      string // of the cluster
}

// autoscaled reports whether the project cluster-autoscaler decides on the number of nodes.
func (b *builder) autoscaled() bool { return b.cfg.Bool("eks:cluster_autoscaler") }

// makeWorkers declares the nodes, between the add-ons that they need and the add-ons
// that need them.
func (b *builder) makeWorkers(cluster *eks.Cluster, subnets pulumi.StringArrayInput) error {
	basis, err := b.makeAddons(cluster, basicAddons())
	if err != nil {
		return err
	}
	nodes, err := b.makeNodes(cluster, subnets, basis)
	if err != nil {
		return err
	}
	storage, err := b.storageAddon()
	if err != nil {
		return err
	}
	_, err = b.makeAddons(cluster, []addon{{name: "coredns"}, storage}, nodes)
	return err
}

// location is where the provider's credentials lead.
type location struct{ partition, region string }

// locate asks the provider: region and credentials may come from the
// configuration, a profile or the environment.
func locate(ctx *pulumi.Context) (location, error) {
	partition, err := aws.GetPartition(ctx, nil)
	if err != nil {
		return location{}, fmt.Errorf("asking AWS for the partition: %w", err)
	}
	region, err := aws.GetRegion(ctx, nil)
	if err != nil {
		return location{}, fmt.Errorf("asking AWS for the region: %w", err)
	}
	return location{partition: partition.Partition, region: region.Region}, nil
}

// enoughZones refuses a network that EKS does not take.
func enoughZones(subnets []string) ([]string, error) {
	if len(subnets) < 2 {
		return nil, fmt.Errorf(
			"the network has private subnets in %d availability zone; EKS needs 2: add one to vpc:azs", len(subnets))
	}
	return subnets, nil
}
