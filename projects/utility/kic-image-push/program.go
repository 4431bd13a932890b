// Package imagepush is the project "kic-image-push": it tags the image that
// kic-image-build made and pushes it to the environment's registry, again
// whenever the image has changed.
package imagepush

import (
	"strings"

	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
	"mara/projects/model"
)

// Program declares the pushed image.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.KICImagePush())
	registry := cfg.Infrastructure().Registry
	dir := ""
	if key := registry.Directory.Name; key != "" {
		dir = cfg.String(key) + "/"
	}
	if err := cfg.Err(); err != nil {
		return err
	}
	source := stackref.New(ctx, projects.KICImageBuild().Name)
	imageID, tag := source.String("image_id"), source.String("image_tag")
	to, err := target(ctx, registry, dir)
	if err != nil {
		return err
	}
	name := pulumi.Sprintf("%s:%s", to.repository, tag)
	// The source is the image's id, not its name: an image that was built or
	// pulled again under the same name is tagged and pushed again.
	tagged, err := docker.NewTag(ctx, "image", &docker.TagArgs{SourceImage: imageID, TargetImage: name})
	if err != nil {
		return err
	}
	pushed, err := docker.NewRegistryImage(ctx, "image", &docker.RegistryImageArgs{
		Name:       name,
		AuthConfig: docker.RegistryImageAuthConfigArgs{Address: to.address, Username: to.user, Password: to.password},
		// The registry's own project removes the images with the registry;
		// removing one here would break pods that still run it.
		KeepRemotely: pulumi.Bool(true),
		Triggers:     pulumi.StringMap{"image": imageID},
	}, pulumi.DependsOn([]pulumi.Resource{tagged}))
	if err != nil {
		return err
	}
	ctx.Export("image_repository", pulumi.Unsecret(to.repository))
	ctx.Export("image_tag", tag)
	ctx.Export("image_digest", pulumi.Unsecret(pushed.Sha256Digest))
	ctx.Export("image_reference", pulumi.Unsecret(pulumi.Sprintf("%s@%s", name, pushed.Sha256Digest)))
	return nil
}

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

// registryURL returns the URL of the registry that a repository belongs to.
func registryURL(repository string) string {
	host, _, _ := strings.Cut(repository, "/")
	return "https://" + host
}
