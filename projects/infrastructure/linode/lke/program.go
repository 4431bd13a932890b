// Package lke is the project "linode-lke": a managed Kubernetes cluster with
// one pool of nodes.
package lke

import (
	"strings"

	"github.com/pulumi/pulumi-linode/sdk/v4/go/linode"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/linode/internal/environment"
	"mara/projects/internal/settings"
)

// Program declares the cluster.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.LinodeLKE())
	args := clusterArgs(ctx, cfg)
	if err := cfg.Err(); err != nil {
		return err
	}
	// The label is fixed, so a cluster that replaces another has to wait for it to go.
	cluster, err := linode.NewLkeCluster(ctx, "cluster", args, pulumi.DeleteBeforeReplace(true))
	if err != nil {
		return err
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
