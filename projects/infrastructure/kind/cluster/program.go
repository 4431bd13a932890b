// Package cluster is the project "kind-cluster": a Kubernetes cluster whose
// nodes are containers on this machine. Its names follow from the stack, so
// that several environments live side by side; their ports have to differ and
// are configuration.
package cluster

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/kind/kindsdk"
	"mara/projects/internal/inputs"
	"mara/projects/internal/settings"
	"mara/projects/naming"
)

// Program declares the cluster.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.KindCluster())
	args := clusterArgs(ctx, cfg)
	if err := cfg.Err(); err != nil {
		return err
	}
	provider, err := kindsdk.NewProvider(ctx, "kind", cfg.String("kind:runtime"))
	if err != nil {
		return err
	}
	cluster, err := kindsdk.NewCluster(ctx, "cluster", args, pulumi.Provider(provider))
	if err != nil {
		return err
	}
	ctx.Export("kubeconfig", pulumi.ToSecret(cluster.Kubeconfig))
	ctx.Export("cluster_name", cluster.Name)
	ctx.Export("cluster_uid", cluster.UID)
	ctx.Export("endpoint", cluster.Endpoint)
	ctx.Export("node_names", cluster.NodeNames)
	ctx.Export("network", cluster.Network)
	return nil
}

// clusterArgs turns the configuration into the cluster's inputs.
func clusterArgs(ctx *pulumi.Context, cfg *settings.Settings) *kindsdk.ClusterArgs {
	return &kindsdk.ClusterArgs{
		Name:             pulumi.String(projects.KindClusterName(ctx.Stack())),
		NodeImage:        pulumi.String(naming.InMirror(cfg.String(projects.Mirror), cfg.String("kind:node_image"))),
		ControlPlanes:    pulumi.Int(cfg.Int("kind:control_planes")),
		Workers:          pulumi.Int(cfg.Int("kind:workers")),
		ListenAddress:    pulumi.String(cfg.String("kind:listen_address")),
		HTTPPort:         pulumi.Int(cfg.Int("kind:http_port")),
		HTTPSPort:        pulumi.Int(cfg.Int("kind:https_port")),
		APIServerAddress: pulumi.String(cfg.String("kind:api_server_address")),
		APIServerPort:    optionalPort(cfg.Int("kind:api_server_port")),
		PodSubnet:        optional(cfg.String("kind:pod_subnet")),
		ServiceSubnet:    optional(cfg.String("kind:service_subnet")),
		Mounts:           mounts(cfg),
		RegistryMirrors:  mirrors(cfg),
		Preload:          inputs.List(cfg.List("kind:preload")),
		Labels: pulumi.StringMap{
			"mara.dev/project": pulumi.String(ctx.Project()),
			"mara.dev/stack":   pulumi.String(naming.Label(ctx.Stack())),
		},
		WaitSeconds: pulumi.Int(cfg.Int("kind:wait_seconds")),
	}
}

// optional returns the input for an optional string.
func optional(text string) pulumi.StringPtrInput {
	if text == "" {
		return nil
	}
	return pulumi.String(text)
}

// optionalPort returns the input for a port; 0 lets the system choose.
func optionalPort(port int) pulumi.IntPtrInput {
	if port == 0 {
		return nil
	}
	return pulumi.Int(port)
}

// mounts returns the inputs for the directories to mount.
func mounts(cfg *settings.Settings) pulumi.MapArray {
	var all pulumi.MapArray
	for _, text := range cfg.List("kind:mounts") {
		mount, _ := projects.ParseMount(text) // the key's form has checked it
		all = append(all, pulumi.Map{
			"hostPath": pulumi.String(mount.Host), "containerPath": pulumi.String(mount.Node),
			"readOnly": pulumi.Bool(mount.ReadOnly),
		})
	}
	return all
}

// mirrors returns the inputs for where to pull a registry's images from.
func mirrors(cfg *settings.Settings) pulumi.StringMap {
	configured := cfg.Map("kind:registry_mirrors")
	if len(configured) == 0 {
		return nil
	}
	urls := pulumi.StringMap{}
	for host, target := range configured {
		urls[host] = pulumi.String(fmt.Sprint(target))
	}
	return urls
}
