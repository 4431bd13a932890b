// Package registrycredentials is the project "cluster-registry-credentials": the Secret with which the ingress
// controller's namespace pulls its image from a registry that is there already.
package registrycredentials

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
)

// Program declares the Secret.
func Program(ctx *pulumi.Context) error {
	return cluster.RegistryCredentials(ctx, projects.ClusterRegistryCredentials(), projects.ExistingCluster().Registry)
}
