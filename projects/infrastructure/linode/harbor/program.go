// Package harbor is the project "linode-harbor": the registry Harbor on a
// machine of its own.
//
// There are three ways to a Harbor on Linode, and two do not do here:
//
//   - Linode's marketplace StackScript no longer takes the administrator's
//     password: it makes one up on the machine, where no program can read it.
//   - The Harbor chart on the cluster itself needs a host name and a
//     certificate that the cluster's own nodes trust, before the environment
//     has either; and images could not be pulled while the cluster, which
//     needs them, is being built up.
//   - A StackScript of our own, below, takes the password, and gets a
//     certificate that everyone trusts for the host name that Linode gives to
//     each address. That works on the first day, so this is it.
//
// The password comes from the Kubernetes Secret that the secrets project made.
package harbor

import (
	"encoding/base64"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// administrator is the name of Harbor's first user, which cannot be changed.
const administrator = "admin"

// Program declares the registry.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.LinodeHarbor())
	kubernetes, err := cluster.Connect(ctx, cfg)
	if err != nil {
		return err
	}
	password, err := adminPassword(ctx, kubernetes)
	if err != nil {
		return err
	}
	machine, err := makeMachine(ctx, cfg, password)
	if err != nil {
		return err
	}
	host := machine.Ipv4s.ApplyT(contain.Try(hostname)).(pulumi.StringOutput)
	ctx.Export("harbor_hostname", host)
	ctx.Export("harbor_url", pulumi.Sprintf("https://%s", host))
	ctx.Export("harbor_user", pulumi.String(administrator))
	ctx.Export("harbor_password", password)
	ctx.Export("instance_id", machine.ID())
	return nil
}

// adminPassword reads the administrator's password from the cluster.
func adminPassword(ctx *pulumi.Context, kubernetes *cluster.Cluster) (pulumi.StringOutput, error) {
	project := projects.LinodeHarbor()
	secrets := stackref.New(ctx, projects.Secrets().Name)
	name := secrets.Entry("secrets", project.Namespace)
	deployed, err := secrets.Has("secrets")
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	if !deployed && ctx.DryRun() {
		// Nothing can be read by an id that is not known yet; the password is
		// as unknown as the name.
		return pulumi.ToSecret(name).(pulumi.StringOutput), nil
	}
	namespace := pulumi.String(project.Namespace)
	secret, err := kubernetes.Read(ctx, "Secret", "credentials", namespace, name, cluster.HideSecretData())
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	password := secret.Data.ApplyT(contain.Try(func(data map[string]string) (string, error) {
		return decode(data, project.Secrets[0].DataKey)
	})).(pulumi.StringOutput)
	return pulumi.ToSecret(password).(pulumi.StringOutput), nil
}

// decode reads one value of a Secret. Errors never quote it.
func decode(data map[string]string, key string) (string, error) {
	value, err := base64.StdEncoding.DecodeString(data[key])
	if err != nil || len(value) == 0 {
		return "", fmt.Errorf("the Secret with Harbor's credentials has no usable value %q: deploy the project %q again",
			key, projects.Secrets().Name)
	}
	return string(value), nil
}
