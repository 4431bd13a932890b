package imagepush

import (
	"strings"

	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/contain"
	"mara/projects/internal/stackref"
	"mara/projects/model"
)

// imageName is the repository's name where the registry does not give one.
const imageName = "nginx-ingress"

// destination is a repository and the login that may push to it.
type destination struct {
	repository pulumi.StringOutput // without tag
	address    pulumi.StringOutput // registry, as URL
	user       pulumi.StringOutput
	password   pulumi.StringOutput // secret, where there is a login
}

// target finds the environment's registry; its directory for images is "" or ends
// with a slash.
func target(ctx *pulumi.Context, registry model.Registry, dir string) (destination, error) {
	outputs := stackref.New(ctx, registry.Project)
	if registry.Login == model.LoginECR {
		return ecrTarget(ctx, outputs)
	}
	host := outputs.String(registry.Host)
	to := destination{repository: pulumi.Sprintf("%s/%s%s", host, dir, imageName)}
	if registry.Login == model.LoginOutputs {
		to.address = host.ApplyT(contain.Value(registryURL)).(pulumi.StringOutput)
		to.user, to.password = outputs.String(registry.User), outputs.String(registry.Password)
		return to, nil
	}
	// Docker's provider wants a login for every registry: any will do.
	anonymous := pulumi.String("anonymous").ToStringOutput()
	to.address, to.user, to.password = pulumi.Sprintf("http://%s", host), anonymous, anonymous
	return to, nil
}

// login returns the login for Docker's provider.
func (d destination) login() docker.RegistryImageAuthConfigPtrInput {
	return docker.RegistryImageAuthConfigArgs{
		Address:  d.address,
		Username: d.user,
		Password: d.password,
	}
}

// registryURL returns the URL of the registry that a repository belongs to.
func registryURL(repository string) string {
	host, _, _ := strings.Cut(repository, "/")
	return "https://" + host
}
