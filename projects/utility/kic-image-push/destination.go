package imagepush

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/ecr"
	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/stackref"
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

// target finds the environment's registry.
func target(ctx *pulumi.Context, infraType, harborProject string) (destination, error) {
	switch infraType {
	case "aws":
		return ecrTarget(ctx)
	case "linode":
		return harborTarget(ctx, harborProject)
	case "kind":
		return localTarget(ctx)
	}
	return destination{}, fmt.Errorf("no registry is known for the provider %q", infraType)
}

// ecrTarget is the repository at AWS. Its password lasts twelve hours, so each
// run asks for a new one: outside a simulation an `up` that pushes nothing
// still shows one updated resource.
func ecrTarget(ctx *pulumi.Context) (destination, error) {
	registry, err := stackref.New(ctx, projects.AWSECR().Name)
	if err != nil {
		return destination{}, err
	}
	repository := registry.String("repository_url")
	token := ecr.GetAuthorizationTokenOutput(ctx, ecr.GetAuthorizationTokenOutputArgs{
		RegistryId: registry.String("registry_id"),
	})
	return destination{
		repository: repository,
		address:    repository.ApplyT(registryURL).(pulumi.StringOutput),
		user:       token.UserName(),
		password:   token.Password().ApplyT(secret).(pulumi.StringOutput),
	}, nil
}

// harborTarget is the project in the environment's Harbor.
func harborTarget(ctx *pulumi.Context, project string) (destination, error) {
	registry, err := stackref.New(ctx, projects.LinodeHarbor().Name)
	if err != nil {
		return destination{}, err
	}
	host := registry.String("harbor_hostname")
	return destination{
		repository: pulumi.Sprintf("%s/%s/%s", host, project, imageName),
		address:    pulumi.Sprintf("https://%s", host),
		user:       registry.String("harbor_user"),
		password:   registry.String("harbor_password"),
	}, nil
}

// localTarget is the registry on this machine. It speaks HTTP and asks for no
// login, but Docker's provider wants one for every registry: any will do.
func localTarget(ctx *pulumi.Context) (destination, error) {
	registry, err := stackref.New(ctx, projects.KindRegistry().Name)
	if err != nil {
		return destination{}, err
	}
	endpoint := registry.String("endpoint")
	nobody := pulumi.String("anonymous").ToStringOutput()
	return destination{
		repository: pulumi.Sprintf("%s/%s", endpoint, imageName),
		address:    pulumi.Sprintf("http://%s", endpoint),
		user:       nobody,
		password:   nobody,
	}, nil
}

// login is the login as Docker's provider wants it.
func (d destination) login() docker.RegistryImageAuthConfigPtrInput {
	return docker.RegistryImageAuthConfigArgs{
		Address:  d.address,
		Username: d.user,
		Password: d.password,
	}
}

// secret marks a text as secret.
func secret(text string) pulumi.StringOutput {
	return pulumi.ToSecret(pulumi.String(text)).(pulumi.StringOutput)
}

// registryURL is the URL of the registry that a repository belongs to.
func registryURL(repository string) string {
	host, _, _ := strings.Cut(repository, "/")
	return "https://" + host
}
