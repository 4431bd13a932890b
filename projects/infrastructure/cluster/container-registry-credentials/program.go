// Package registrycredentials is the project "cluster-registry-credentials": the Secret with which the ingress
// controller's namespace pulls its image from a registry that is there already.
package registrycredentials

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// Program declares the Secret.
func Program(ctx *pulumi.Context) error {
	kubernetes, err := cluster.Connect(ctx, settings.New(ctx, projects.ClusterRegistryCredentials()))
	if err != nil {
		return err
	}
	registry := stackref.New(ctx, projects.ClusterRegistry().Name)
	login := pulumi.All(registry.String("address"), registry.String("user"), registry.String("password")).
		ApplyT(contain.Try(func(parts []any) (string, error) {
			host, _, _ := strings.Cut(parts[0].(string), "/")
			return cluster.DockerConfig(host, parts[1].(string), parts[2].(string))
		})).(pulumi.StringOutput)
	return kubernetes.PullSecret(ctx, login)
}
