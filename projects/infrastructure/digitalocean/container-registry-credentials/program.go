// Package registrycredentials is the project "digitalocean-registry-credentials":
// a login that can only pull, and the Secret with which the ingress controller's
// namespace pulls its image.
package registrycredentials

import (
	"github.com/pulumi/pulumi-digitalocean/sdk/v4/go/digitalocean"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// Program declares the login and the Secret.
func Program(ctx *pulumi.Context) error {
	kubernetes, err := cluster.Connect(ctx, settings.New(ctx, projects.DigitalOceanRegistryCredentials()))
	if err != nil {
		return err
	}
	registry := stackref.New(ctx, projects.DigitalOceanRegistry().Name)
	pull := &digitalocean.ContainerRegistryDockerCredentialsArgs{
		RegistryName: registry.String("registry_name"), Write: pulumi.Bool(false),
	}
	login, err := digitalocean.NewContainerRegistryDockerCredentials(ctx, "pull", pull)
	if err != nil {
		return err
	}
	return kubernetes.PullSecret(ctx, login.DockerCredentials)
}
