// Package imagepush is the project "kic-image-push": it tags the image that
// kic-image-build made and pushes it to the environment's registry, again
// whenever the image has changed.
package imagepush

import (
	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
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
	to, err := target(ctx, registry, dir)
	if err != nil {
		return err
	}
	return push(ctx, source.String("image_id"), source.String("image_tag"), to)
}

// push tags the image for the registry and pushes it.
func push(ctx *pulumi.Context, imageID, tag pulumi.StringOutput, to destination) error {
	name := pulumi.Sprintf("%s:%s", to.repository, tag)
	// The source is the image's id, not its name: an image that was built or
	// pulled again under the same name is tagged and pushed again.
	tagged, err := docker.NewTag(ctx, "image", &docker.TagArgs{SourceImage: imageID, TargetImage: name})
	if err != nil {
		return err
	}
	pushed, err := docker.NewRegistryImage(ctx, "image", &docker.RegistryImageArgs{
		Name:       name,
		AuthConfig: to.login(),
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
