// Package registry is the project "cluster-registry": address and login of a registry that is there already. It makes
// no resource.
package registry

import (
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/settings"
)

// Program exports the registry.
func Program(ctx *pulumi.Context) error {
	project := projects.ClusterRegistry()
	cfg := settings.New(ctx, project)
	cfg.Infrastructure()
	address, user := cfg.String("cluster:registry"), cfg.String("cluster:registry_user")
	if err := cfg.Err(); err != nil {
		return err
	}
	password, _ := ctx.GetConfig(project.Secrets[0].Key)
	if !cfg.Simulated() && (user == "") != (password == "") {
		return errors.New("the registry has half a login: set both cluster:registry_user and, with `runner secrets set`, " +
			"cluster:registry_password, or neither")
	}
	ctx.Export("address", pulumi.String(address))
	ctx.Export("user", pulumi.String(user))
	ctx.Export("password", pulumi.ToSecret(pulumi.String(password)))
	return nil
}
