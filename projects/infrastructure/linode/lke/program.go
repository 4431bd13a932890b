// Package lke is the project "linode-lke": a managed Kubernetes cluster with
// a pool of nodes, and further ones.
package lke

import (
	"strings"

	"github.com/pulumi/pulumi-linode/sdk/v5/go/linode"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/linode/internal/environment"
	"mara/projects/internal/settings"
)

// Program declares the cluster.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.LinodeLKE())
	args := clusterArgs(ctx, cfg)
	pools := projects.LKEPools(cfg.Map("lke:pools")) // a rule of the project has judged them
	tag := environment.Label(ctx.Stack(), "pools")
	if len(pools) > 0 {
		// Without it, the next change of the cluster deletes the pools that are not in its own list.
		args.ExternalPoolTags = pulumi.StringArray{tag}
	}
	if err := cfg.Err(); err != nil {
		return err
	}
	// The label is fixed, so a cluster that replaces another has to wait for it to go.
	cluster, err := linode.NewLkeCluster(ctx, "cluster", args, pulumi.DeleteBeforeReplace(true))
	if err != nil {
		return err
	}
	for _, pool := range pools {
		if err := makePool(ctx, cluster, pool, tag); err != nil {
			return err
		}
	}
	ctx.Export("kubeconfig", pulumi.ToSecret(cluster.Kubeconfig))
	ctx.Export("cluster_name", cluster.Label)
	ctx.Export("cluster_id", cluster.ID())
	ctx.Export("api_endpoint", cluster.ApiEndpoints.Index(pulumi.Int(0)))
	return nil
}

// clusterArgs turns the configuration into the cluster's inputs.
func clusterArgs(ctx *pulumi.Context, cfg *settings.Settings) *linode.LkeClusterArgs {
	return &linode.LkeClusterArgs{
		Label:      environment.Label(ctx.Stack(), ""),
		K8sVersion: pulumi.String(cfg.String("lke:k8s_version")),
		Region:     pulumi.String(cfg.String("lke:region")),
		Pools:      linode.LkeClusterPoolArray{pool(cfg)},
		ControlPlane: linode.LkeClusterControlPlaneArgs{
			HighAvailability: pulumi.Bool(cfg.Bool("lke:high_availability")),
			Acl:              accessList(cfg),
		},
		Tags: environment.Tags(ctx),
	}
}

// pool declares the nodes. With autoscaling, Linode sets their number: a number given here
// would undo its work with every `up`.
func pool(cfg *settings.Settings) linode.LkeClusterPoolArgs {
	nodes := linode.LkeClusterPoolArgs{Type: pulumi.String(cfg.String("lke:node_type"))}
	smallest, largest := cfg.Int("lke:min_nodes"), cfg.Int("lke:max_nodes")
	if largest == 0 {
		nodes.Count = pulumi.Int(cfg.Int("lke:node_count"))
		return nodes
	}
	nodes.Autoscaler = linode.LkeClusterPoolAutoscalerArgs{Min: pulumi.Int(smallest), Max: pulumi.Int(largest)}
	return nodes
}

// makePool declares a further pool of nodes, a resource of its own: the pools in the cluster's list have no
// names, and are distinguished by their places only.
func makePool(ctx *pulumi.Context, cluster *linode.LkeCluster, wanted projects.Pool, tag pulumi.String) error {
	args := &linode.LkeNodePoolArgs{
		ClusterId: environment.Number(cluster.ID()), Type: pulumi.String(wanted.Size), Tags: pulumi.StringArray{tag},
		Labels: pulumi.ToStringMap(wanted.Labels),
	}
	if wanted.Scaled() {
		args.Autoscaler = linode.LkeNodePoolAutoscalerArgs{
			Min: pulumi.Int(wanted.Min), Max: pulumi.Int(wanted.Max),
		}
	} else {
		args.NodeCount = pulumi.Int(wanted.Count)
	}
	var taints linode.LkeNodePoolTaintArray
	for _, taint := range wanted.Taints {
		taints = append(taints, linode.LkeNodePoolTaintArgs{
			Key: pulumi.String(taint.Key), Value: pulumi.String(taint.Value), Effect: pulumi.String(taint.Effect),
		})
	}
	args.Taints = taints
	_, err := linode.NewLkeNodePool(ctx, "pool-"+wanted.Name, args)
	return err
}

// accessList returns the addresses that may reach the API server; nil allows all.
func accessList(cfg *settings.Settings) linode.LkeClusterControlPlaneAclPtrInput {
	var ipv4, ipv6 pulumi.StringArray
	for _, text := range cfg.List("lke:api_allowed_cidrs") {
		if strings.Contains(text, ":") {
			ipv6 = append(ipv6, pulumi.String(text))
		} else {
			ipv4 = append(ipv4, pulumi.String(text))
		}
	}
	if ipv4 == nil && ipv6 == nil {
		return nil
	}
	return linode.LkeClusterControlPlaneAclArgs{
		Enabled:   pulumi.Bool(true),
		Addresses: linode.LkeClusterControlPlaneAclAddressArray{aclAddresses(ipv4, ipv6)},
	}
}

// aclAddresses omits an unused kind of address.
func aclAddresses(ipv4, ipv6 pulumi.StringArray) linode.LkeClusterControlPlaneAclAddressArgs {
	var addresses linode.LkeClusterControlPlaneAclAddressArgs
	if ipv4 != nil {
		addresses.Ipv4s = ipv4
	}
	if ipv6 != nil {
		addresses.Ipv6s = ipv6
	}
	return addresses
}
