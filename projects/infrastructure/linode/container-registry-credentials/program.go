// Package registrycredentials is the project "linode-registry-credentials": the
// Secret with which the ingress controller's namespace pulls its image from the
// environment's Harbor.
package registrycredentials

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// Program declares the Secret.
func Program(ctx *pulumi.Context) error {
	kubernetes, err := cluster.Connect(ctx, settings.New(ctx, projects.LinodeRegistryCredentials()))
	if err != nil {
		return err
	}
	harbor := stackref.New(ctx, projects.LinodeHarbor().Name)
	login := pulumi.All(harbor.String("harbor_hostname"), harbor.String("harbor_user"), harbor.String("harbor_password")).
		ApplyT(contain.Try(func(parts []any) (string, error) {
			return cluster.DockerConfig(parts[0].(string), parts[1].(string), parts[2].(string))
		})).(pulumi.StringOutput)
	return kubernetes.PullSecret(ctx, login)
}
