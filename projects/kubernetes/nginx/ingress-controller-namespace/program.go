// Package namespace is the Pulumi program that makes the ingress controller's
// namespace. It is a project of its own because a private registry's
// credentials have to be in the namespace before the controller is.
package namespace

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
)

// Program makes the namespace.
func Program(ctx *pulumi.Context) error {
	project := projects.IngressControllerNamespace()
	_, namespace, err := cluster.ConnectIn(ctx, settings.New(ctx, project), project.Namespace)
	if err != nil {
		return err
	}
	ctx.Export("namespace", namespace)
	return nil
}
