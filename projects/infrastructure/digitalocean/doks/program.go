// Package doks is the project "digitalocean-doks": a managed Kubernetes cluster
// with one pool of nodes.
package doks

import (
	"fmt"
	"regexp"

	"github.com/pulumi/pulumi-digitalocean/sdk/v4/go/digitalocean"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/digitalocean/internal/environment"
	"mara/projects/internal/settings"
)

// whole matches a version of Kubernetes as DigitalOcean names it. Of any other, DigitalOcean chooses the patch.
var whole = regexp.MustCompile(`^1\.\d{2}\.\d+-do\.\d+$`)

const secondsOfADay = 24 * 60 * 60

// Program declares the cluster.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.DigitalOceanDOKS())
	args := clusterArgs(ctx, cfg)
	pools := projects.DOKSPools(cfg.Map("doks:pools")) // a rule of the project has judged them
	if err := cfg.Err(); err != nil {
		return err
	}
	version, err := exact(ctx, cfg.String("doks:k8s_version"))
	if err != nil {
		return err
	}
	args.Version = pulumi.String(version)
	// The name is fixed, so a cluster that replaces another has to wait for it to go.
	cluster, err := digitalocean.NewKubernetesCluster(ctx, "cluster", args, pulumi.DeleteBeforeReplace(true))
	if err != nil {
		return err
	}
	for _, wanted := range pools {
		if err := makePool(ctx, cluster, wanted); err != nil {
			return err
		}
	}
	ctx.Export("kubeconfig", pulumi.ToSecret(cluster.KubeConfigs.Index(pulumi.Int(0)).RawConfig().Elem()))
	ctx.Export("cluster_name", cluster.Name)
	ctx.Export("cluster_id", cluster.ID())
	ctx.Export("cluster_version", cluster.Version)
	ctx.Export("api_endpoint", cluster.Endpoint)
	return nil
}

// clusterArgs turns the configuration into the cluster's inputs, but for the version.
func clusterArgs(ctx *pulumi.Context, cfg *settings.Settings) *digitalocean.KubernetesClusterArgs {
	return &digitalocean.KubernetesClusterArgs{
		Name:                    pulumi.String(environment.Name(ctx.Stack(), "")),
		Region:                  pulumi.String(cfg.String("doks:region")),
		NodePool:                pool(ctx, cfg),
		Ha:                      pulumi.Bool(cfg.Bool("doks:high_availability")),
		ControlPlaneFirewall:    firewall(cfg),
		KubeconfigExpireSeconds: pulumi.Int(cfg.Int("doks:kubeconfig_days") * secondsOfADay),
		Tags:                    environment.Tags(ctx),
	}
}

// exact returns the full name of a version at DigitalOcean: for a minor version, that of its
// newest patch.
func exact(ctx *pulumi.Context, version string) (string, error) {
	if whole.MatchString(version) {
		return version, nil
	}
	found, err := digitalocean.GetKubernetesVersions(ctx, &digitalocean.GetKubernetesVersionsArgs{
		VersionPrefix: pulumi.StringRef(version + "."),
	})
	if err != nil {
		return "", fmt.Errorf("asking for the patches of Kubernetes %s: %w", version, err)
	}
	if !whole.MatchString(found.LatestVersion) {
		return "", fmt.Errorf("doks:k8s_version: DigitalOcean does not offer Kubernetes %s", version)
	}
	return found.LatestVersion, nil
}

// pool declares the nodes. With autoscaling, DigitalOcean sets their number: a number given
// here would undo its work with every `up`.
func pool(ctx *pulumi.Context, cfg *settings.Settings) digitalocean.KubernetesClusterNodePoolArgs {
	nodes := digitalocean.KubernetesClusterNodePoolArgs{
		Name: pulumi.String(environment.Name(ctx.Stack(), "nodes")), Size: pulumi.String(cfg.String("doks:node_size")),
	}
	smallest, largest := cfg.Int("doks:min_nodes"), cfg.Int("doks:max_nodes")
	if largest == 0 {
		nodes.NodeCount = pulumi.Int(cfg.Int("doks:node_count"))
		return nodes
	}
	nodes.AutoScale = pulumi.Bool(true)
	nodes.MinNodes, nodes.MaxNodes = pulumi.Int(smallest), pulumi.Int(largest)
	return nodes
}

// makePool declares a further pool of nodes.
func makePool(ctx *pulumi.Context, cluster *digitalocean.KubernetesCluster, wanted projects.Pool) error {
	args := &digitalocean.KubernetesNodePoolArgs{
		ClusterId: cluster.ID(), Name: pulumi.String(environment.Name(ctx.Stack(), wanted.Name)),
		Size: pulumi.String(wanted.Size), Labels: pulumi.ToStringMap(wanted.Labels), Tags: environment.Tags(ctx),
	}
	if wanted.Scaled() {
		args.AutoScale = pulumi.Bool(true)
		args.MinNodes, args.MaxNodes = pulumi.Int(wanted.Min), pulumi.Int(wanted.Max)
	} else {
		args.NodeCount = pulumi.Int(wanted.Count)
	}
	var taints digitalocean.KubernetesNodePoolTaintArray
	for _, taint := range wanted.Taints {
		taints = append(taints, digitalocean.KubernetesNodePoolTaintArgs{
			Key: pulumi.String(taint.Key), Value: pulumi.String(taint.Value), Effect: pulumi.String(taint.Effect),
		})
	}
	args.Taints = taints
	// The name is fixed, so a pool that replaces another has to wait for it to go.
	_, err := digitalocean.NewKubernetesNodePool(ctx, "pool-"+wanted.Name, args, pulumi.DeleteBeforeReplace(true))
	return err
}

// firewall returns the addresses that may reach the API server; nil allows all.
func firewall(cfg *settings.Settings) digitalocean.KubernetesClusterControlPlaneFirewallPtrInput {
	allowed := cfg.List("doks:api_allowed_cidrs")
	if len(allowed) == 0 {
		return nil
	}
	return digitalocean.KubernetesClusterControlPlaneFirewallArgs{
		Enabled: pulumi.Bool(true), AllowedAddresses: pulumi.ToStringArray(allowed),
	}
}
