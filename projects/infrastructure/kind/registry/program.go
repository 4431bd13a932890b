// Package registry is the project "kind-registry": a container registry on
// this machine that the nodes of the environment's cluster pull from. The
// resource also wires the nodes and makes the ConfigMap
// kube-public/local-registry-hosting, so no Kubernetes provider is needed here.
package registry

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/kind/kindsdk"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
	"mara/projects/naming"
)

// Program declares the registry.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.KindRegistry())
	args := registryArgs(ctx, cfg)
	if err := cfg.Err(); err != nil {
		return err
	}
	cluster := stackref.New(ctx, projects.KindCluster().Name)
	args.ClusterName = cluster.String("cluster_name")
	args.ClusterUID = cluster.String("cluster_uid")
	args.NodeNames = cluster.StringList("node_names")
	args.Network = cluster.String("network")

	provider, err := kindsdk.NewProvider(ctx, "kind", cfg.String("kind:runtime"))
	if err != nil {
		return err
	}
	registry, err := kindsdk.NewRegistry(ctx, "registry", args, pulumi.Provider(provider))
	if err != nil {
		return err
	}
	ctx.Export("endpoint", registry.Endpoint)
	ctx.Export("internal_endpoint", registry.InternalEndpoint)
	return nil
}

// registryArgs turns the configuration into the registry's inputs.
func registryArgs(ctx *pulumi.Context, cfg *settings.Settings) *kindsdk.RegistryArgs {
	return &kindsdk.RegistryArgs{
		Name:        pulumi.String(projects.KindRegistryName(ctx.Stack())),
		Image:       pulumi.String(naming.InMirror(cfg.String(projects.Mirror), cfg.String("kind:registry_image"))),
		HostAddress: pulumi.String(cfg.String("kind:registry_address")),
		HostPort:    pulumi.Int(cfg.Int("kind:registry_port")),
		Labels: pulumi.StringMap{
			"mara.dev/project": pulumi.String(ctx.Project()),
			"mara.dev/stack":   pulumi.String(naming.Label(ctx.Stack())),
		},
	}
}
