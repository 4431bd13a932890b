// Package imagebuild is the project "kic-image-build": the ingress controller's
// image on this machine, either pulled from a registry or built from source.
//
// Credentials of NGINX Plus are given by path. A build gets certificate and key
// as build secrets, of which the state holds the paths alone; the token that a
// pull logs in with is a secret input of the Docker provider.
package imagebuild

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/settings"
)

// Program declares the image.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.KICImageBuild())
	wanted := want(cfg, ctx.Stack())
	if err := cfg.Err(); err != nil {
		return err
	}
	opts, err := login(ctx, wanted.login)
	if err != nil {
		return err
	}
	// A build that replaces another has the same name: the old image has to go
	// first, or removing it by name would remove the new one.
	opts = append(opts, pulumi.DeleteBeforeReplace(true))
	made, err := docker.NewRemoteImage(ctx, "image", wanted.args, opts...)
	if err != nil {
		return err
	}
	ctx.Export("image_name", made.Name)
	ctx.Export("image_tag", pulumi.String(wanted.tag))
	ctx.Export("image_id", made.ImageId)
	return nil
}

// wanted is what the configuration asks for.
type wanted struct {
	args  *docker.RemoteImageArgs
	tag   string      // tag that the image is to have in the environment's registry
	login *registered // login for the registry to pull from; nil when it needs none
}

// registered is a login at a registry.
type registered struct{ host, user, password string }

// want reads the configuration; what does not fit is recorded in the settings.
func want(cfg *settings.Settings, stack string) wanted {
	if cfg.String("kic:image_origin") == "source" {
		return build(cfg, stack)
	}
	return pull(cfg)
}

// login makes a Docker provider that knows the login. Without one the default
// provider does.
func login(ctx *pulumi.Context, at *registered) ([]pulumi.ResourceOption, error) {
	if at == nil {
		return nil, nil
	}
	provider, err := docker.NewProvider(ctx, "docker", &docker.ProviderArgs{
		RegistryAuth: docker.ProviderRegistryAuthArray{docker.ProviderRegistryAuthArgs{
			Address:  pulumi.String(at.host),
			Username: pulumi.ToSecret(pulumi.String(at.user)).(pulumi.StringOutput),
			Password: pulumi.ToSecret(pulumi.String(at.password)).(pulumi.StringOutput),
		}},
	})
	if err != nil {
		return nil, err
	}
	return []pulumi.ResourceOption{pulumi.Provider(provider)}, nil
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

// file reads the path of a file that has to be there. Paths are absolute: the
// working directory differs between the runner and a plain `pulumi up`.
func file(cfg *settings.Settings, key string) string {
	path := cfg.String(key)
	if !filepath.IsAbs(path) {
		cfg.Reject(key, "is %q, which is not an absolute path; NGINX Plus needs it", path)
		return ""
	}
	if info, err := os.Stat(path); err != nil {
		cfg.Reject(key, "cannot be used: %w", err)
	} else if !info.Mode().IsRegular() {
		cfg.Reject(key, "is %q, which is not a file", path)
	}
	return path
}

// contents reads a short text file.
func contents(cfg *settings.Settings, key string) string {
	path := file(cfg, key)
	if path == "" {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		cfg.Reject(key, "cannot be used: %w", err)
	}
	return strings.TrimSpace(string(text))
}
