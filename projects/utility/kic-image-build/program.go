// Package imagebuild is the project "kic-image-build": the ingress controller's
// image on this machine, either pulled from a registry or built from source.
//
// Credentials of NGINX Plus are given by path. A build gets certificate and key
// as build secrets, of which the state holds the paths alone; the token that a
// pull logs in with is a secret input of the Docker provider.
package imagebuild

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/settings"
	"mara/projects/naming"
)

// plusRegistry is F5's registry of commercial images. One logs in with the
// licence token as user and any password:
// docs.nginx.com/nginx-ingress-controller/install/images/registry-download.
const plusRegistry = "private-registry.nginx.com"

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
				Address:  pulumi.String(plusRegistry),
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
	if _, _, err := parse(named); err != nil {
		cfg.Reject("kic:image_name", "cannot be used: %w", err)
		return wanted{}
	}
	name := naming.InMirror(cfg.String(projects.Mirror), named)
	registry, tag, err := parse(name)
	if err != nil {
		cfg.Reject(projects.Mirror, "cannot be used: %w", err)
		return wanted{}
	}
	args := &docker.RemoteImageArgs{Name: pulumi.String(name), Platform: platform(cfg), KeepLocally: pulumi.Bool(true)}
	asked := wanted{args: args, tag: tag, login: registry == plusRegistry}
	if asked.login {
		asked.token = contents(cfg, "kic:jwt_path")
	}
	return asked
}

// The grammar of distribution/reference, without its rare corners.
var (
	repositoryPattern = regexp.MustCompile(
		`^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*$`)
	tagPattern    = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
	digestPattern = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)
)

// parse returns the registry ("" for Docker Hub) and the tag of an image name REGISTRY/REPOSITORY:TAG@DIGEST. It must
// have a tag: an image without one would be a different image from day to day.
func parse(name string) (registry, tag string, err error) {
	rest, digest, pinned := strings.Cut(name, "@")
	if pinned && !digestPattern.MatchString(digest) {
		return "", "", fmt.Errorf("%q has a digest that is not sha256: and 64 hexadecimal digits", name)
	}
	if slash, colon := strings.LastIndex(rest, "/"), strings.LastIndex(rest, ":"); colon > slash {
		rest, tag = rest[:colon], rest[colon+1:]
	}
	if !tagPattern.MatchString(tag) {
		return "", "", fmt.Errorf("%q has no tag; give one, such as %s:1.2.3", name, rest)
	}
	registry, repository := naming.SplitRegistry(rest)
	if !repositoryPattern.MatchString(repository) {
		return "", "", fmt.Errorf("%q is not the name of an image, such as nginx/nginx-ingress:5.5.4", name)
	}
	return registry, tag, nil
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
