// Package doks is the project "digitalocean-doks": a managed Kubernetes cluster
// with one pool of nodes.
package doks

import (
	"fmt"
	"net/netip"
	"regexp"

	"github.com/pulumi/pulumi-digitalocean/sdk/v4/go/digitalocean"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/digitalocean/internal/environment"
	"mara/projects/internal/settings"
)

// minor is a Kubernetes version whose patches DigitalOcean chooses; whole is one
// as DigitalOcean names it. Neither takes the "1.3" that is left of 1.30 written
// without quotes.
var (
	minor = regexp.MustCompile(`^1\.\d{2}$`)
	whole = regexp.MustCompile(`^1\.\d{2}\.\d+-do\.\d+$`)
)

// region is a region as DigitalOcean names it.
var region = regexp.MustCompile(`^[a-z]{3}\d$`)

const secondsOfADay = 24 * 60 * 60

// Program declares the cluster.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.DigitalOceanDOKS())
	args := clusterArgs(ctx, cfg)
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
	ctx.Export("kubeconfig", pulumi.ToSecret(cluster.KubeConfigs.Index(pulumi.Int(0)).RawConfig().Elem()))
	ctx.Export("cluster_name", cluster.Name)
	ctx.Export("cluster_id", cluster.ID())
	ctx.Export("cluster_version", cluster.Version)
	ctx.Export("api_endpoint", cluster.Endpoint)
	return nil
}

// clusterArgs turns the configuration into the cluster's inputs, but for the
// version; what does not fit is recorded in the settings.
func clusterArgs(ctx *pulumi.Context, cfg *settings.Settings) *digitalocean.KubernetesClusterArgs {
	if version := cfg.String("doks:k8s_version"); !minor.MatchString(version) && !whole.MatchString(version) {
		cfg.Reject("doks:k8s_version", "is %q, which is neither major.minor nor a version such as 1.36.2-do.0", version)
	}
	place := cfg.String("doks:region")
	if !region.MatchString(place) {
		cfg.Reject("doks:region", "is %q, which is not a region such as nyc3", place)
	}
	return &digitalocean.KubernetesClusterArgs{
		Name:                    pulumi.String(environment.Name(ctx.Stack(), "")),
		Region:                  pulumi.String(place),
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
	switch {
	case smallest == 0 && largest == 0:
		nodes.NodeCount = pulumi.Int(cfg.Int("doks:node_count"))
		return nodes
	case smallest == 0:
		cfg.Reject("doks:min_nodes", "must be at least 1 when doks:max_nodes is set")
	case smallest > largest:
		cfg.Reject("doks:max_nodes", "is %d, less than doks:min_nodes, which is %d", largest, smallest)
	}
	nodes.AutoScale = pulumi.Bool(true)
	nodes.MinNodes, nodes.MaxNodes = pulumi.Int(smallest), pulumi.Int(largest)
	return nodes
}

// firewall returns the addresses that may reach the API server; nil allows all.
func firewall(cfg *settings.Settings) digitalocean.KubernetesClusterControlPlaneFirewallPtrInput {
	var allowed pulumi.StringArray
	for _, text := range cfg.List("doks:api_allowed_cidrs") {
		_, isRange := netip.ParsePrefix(text)
		if _, isAddress := netip.ParseAddr(text); isRange != nil && isAddress != nil {
			cfg.Reject("doks:api_allowed_cidrs", "has %q, which is neither an address nor a range of addresses", text)
		}
		allowed = append(allowed, pulumi.String(text))
	}
	if allowed == nil {
		return nil
	}
	return digitalocean.KubernetesClusterControlPlaneFirewallArgs{Enabled: pulumi.Bool(true), AllowedAddresses: allowed}
}
