// Package imagebuild is the project "kic-image-build": the ingress controller's
// image on this machine, either pulled from a registry or built from source.
//
// Credentials of NGINX Plus are given by path. A build gets certificate and key
// as build secrets, of which the state holds the paths alone; the token that a
// pull logs in with is a secret input of the Docker provider.
package imagebuild

import (
	"cmp"
	"os"
	"strings"

	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/settings"
	"mara/projects/naming"
)

// wanted is what the configuration asks for.
type wanted struct {
	args  *docker.RemoteImageArgs
	tag   string // tag that the image is to have in the environment's registry
	login bool   // F5's registry needs a login
	token string // the licence token
}

// Program declares the image.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.KICImageBuild())
	read := pull
	if cfg.String("kic:image_origin") == "source" {
		read = build
	}
	wanted := read(cfg, ctx.Stack())
	if err := cfg.Err(); err != nil {
		return err
	}
	// A build that replaces another has the same name: the old image has to go
	// first, or removing it by name would remove the new one.
	opts := []pulumi.ResourceOption{pulumi.DeleteBeforeReplace(true)}
	if wanted.login { // the default provider has none
		provider, err := docker.NewProvider(ctx, "docker", &docker.ProviderArgs{
			RegistryAuth: docker.ProviderRegistryAuthArray{docker.ProviderRegistryAuthArgs{
				Address:  pulumi.String(projects.PlusRegistry),
				Username: pulumi.ToSecret(pulumi.String(wanted.token)).(pulumi.StringOutput),
				Password: pulumi.ToSecret(pulumi.String("none")).(pulumi.StringOutput),
			}},
		})
		if err != nil {
			return err
		}
		opts = append(opts, pulumi.Provider(provider))
	}
	made, err := docker.NewRemoteImage(ctx, "image", wanted.args, opts...)
	if err != nil {
		return err
	}
	ctx.Export("image_name", made.Name)
	ctx.Export("image_tag", pulumi.String(wanted.tag))
	ctx.Export("image_id", made.ImageId)
	return nil
}

// pull asks for an image of a registry. The local copy is a cache that
// environments share, so destroying one of them leaves it.
func pull(cfg *settings.Settings, _ string) wanted {
	release := projects.KICImage
	if cfg.Bool("kic:nginx_plus") {
		release = projects.KICPlusImage
	}
	named := cmp.Or(cfg.String("kic:image_name"), release)
	name := naming.InMirror(cfg.String(projects.Mirror), named)
	registry, tag := parse(name)
	args := &docker.RemoteImageArgs{Name: pulumi.String(name), Platform: platform(cfg), KeepLocally: pulumi.Bool(true)}
	asked := wanted{args: args, tag: tag, login: registry == projects.PlusRegistry}
	if asked.login {
		asked.token = contents(cfg, "kic:jwt_path")
	}
	return asked
}

// parse returns the registry ("" for Docker Hub) and the tag of an image name REGISTRY/REPOSITORY:TAG@DIGEST.
func parse(name string) (registry, tag string) {
	rest, _, _ := strings.Cut(name, "@")
	colon := strings.LastIndex(rest, ":")
	registry, _ = naming.SplitRegistry(rest[:colon])
	return registry, rest[colon+1:]
}

// platform returns the platform of the image: as configured, or that of the cluster's nodes.
// On kind they share the platform of this machine, which is Docker's default.
func platform(cfg *settings.Settings) pulumi.StringPtrInput {
	if configured := cfg.String("kic:platform"); configured != "" {
		return pulumi.String(configured)
	}
	if cfg.Infrastructure().Local {
		return nil
	}
	return pulumi.String("linux/amd64")
}

// contents reads a short text file.
func contents(cfg *settings.Settings, key string) string {
	text, err := os.ReadFile(cfg.String(key))
	if err != nil && cfg.Err() == nil { // else a rule has said it
		cfg.Reject(key, "cannot be used: %w", err)
	}
	return strings.TrimSpace(string(text))
}
