// Package registrycredentials is the project "linode-registry-credentials": the
// Secret with which the ingress controller's namespace pulls its image from the
// environment's Harbor.
package registrycredentials

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
)

// Program declares the Secret.
func Program(ctx *pulumi.Context) error {
	return cluster.RegistryCredentials(ctx, projects.LinodeRegistryCredentials(), projects.Linode().Registry)
}
