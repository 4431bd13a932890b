package imagebuild

import (
	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/settings"
	"mara/projects/naming"
	"mara/projects/utility/internal/image"
)

// plusRegistry is F5's registry of commercial images. One logs in with the
// licence token as user and any password:
// docs.nginx.com/nginx-ingress-controller/install/images/registry-download.
const plusRegistry = "private-registry.nginx.com"

// pull asks for an image of a registry. The local copy is a cache that
// environments share, so destroying one of them leaves it.
func pull(cfg *settings.Settings) wanted {
	named := imageName(cfg)
	if _, err := image.Parse(named); err != nil {
		cfg.Reject("kic:image_name", "cannot be used: %w", err)
		return wanted{}
	}
	found, err := image.Parse(naming.InMirror(cfg.String(projects.Mirror), named))
	if err != nil {
		cfg.Reject(projects.Mirror, "cannot be used: %w", err)
		return wanted{}
	}
	return wanted{
		args: &docker.RemoteImageArgs{
			Name:        pulumi.String(found.String()),
			Platform:    platform(cfg),
			KeepLocally: pulumi.Bool(true),
		},
		tag:   found.Tag,
		login: plusLogin(cfg, found),
	}
}

// imageName returns the configured image, or the release that fits the edition.
func imageName(cfg *settings.Settings) string {
	if configured := cfg.String("kic:image_name"); configured != "" {
		return configured
	}
	if cfg.Bool("kic:nginx_plus") {
		return projects.KICPlusImage
	}
	return projects.KICImage
}

// plusLogin returns the login for F5's registry, if the image comes from there.
func plusLogin(cfg *settings.Settings, source image.Reference) *registered {
	if source.Registry != plusRegistry {
		return nil
	}
	return &registered{host: plusRegistry, user: contents(cfg, "kic:jwt_path"), password: "none"}
}
