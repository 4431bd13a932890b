package imagebuild

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/settings"
	"mara/projects/utility/internal/image"
)

// Facts of the source's Makefile and build/Dockerfile.
const (
	dockerfile    = "build/Dockerfile"
	compileTarget = "container" // compiles inside Docker: no Go needed here
	localTag      = "local"     // tag of an image built from a directory
)

// gitURL is what BuildKit takes for a git repository, at a branch or tag.
var gitURL = regexp.MustCompile(`^(?:https?://|ssh://|git@).+\.git#([\w./-]+)$`)

// source is what to build.
type source struct {
	context     string // directory, or git URL with #ref
	dockerfile  string // relative to a repository; absolute for a directory, as BuildKit wants it
	tag         string
	fingerprint string // changes when the source does
}

// build asks for an image that is built here. Its name has the stack in it:
// environments share the machine's images, and each may build another source.
func build(cfg *settings.Settings, stack string) wanted {
	from := readSource(cfg)
	name := "mara/nginx-ingress:" + from.tag + "-" + stack
	return wanted{
		args: &docker.RemoteImageArgs{
			Name:     pulumi.String(name),
			Platform: platform(cfg),
			Build: docker.RemoteImageBuildArgs{
				// Build secrets need BuildKit, which a named builder asks for.
				Builder:    pulumi.String("default"),
				Context:    pulumi.String(from.context),
				Dockerfile: pulumi.String(from.dockerfile),
				Target:     pulumi.String(compileTarget),
				Platform:   platform(cfg),
				BuildArgs: pulumi.StringMap{
					"BUILD_OS":   pulumi.String(buildOS(cfg)),
					"IC_VERSION": pulumi.String(from.tag),
				},
				Secrets: buildSecrets(cfg),
			},
			Triggers: pulumi.StringMap{
				"source":  pulumi.String(from.fingerprint),
				"rebuild": pulumi.String(cfg.String("kic:source_rebuild")),
			},
			ForceRemove: pulumi.Bool(true),
		},
		tag: from.tag,
	}
}

// readSource reads where the source is: a git URL or a directory.
func readSource(cfg *settings.Settings) source {
	location := cfg.String("kic:source")
	var from source
	switch match := gitURL.FindStringSubmatch(location); {
	case match != nil:
		from = source{
			context: location, dockerfile: dockerfile, fingerprint: location,
			tag: strings.TrimPrefix(strings.ReplaceAll(match[1], "/", "-"), "v"),
		}
	case filepath.IsAbs(location):
		from = directory(cfg, location)
	default:
		cfg.Reject("kic:source", "is %q, which is neither a git URL ending in .git#TAG nor an absolute path", location)
	}
	if configured := cfg.String("kic:source_tag"); configured != "" {
		from.tag = configured
		if !image.ValidTag(configured) {
			cfg.Reject("kic:source_tag", "is %q, which cannot be the tag of an image", configured)
		}
	}
	return from
}

// directory reads a source that is a directory of this machine.
func directory(cfg *settings.Settings, path string) source {
	recipe := filepath.Join(path, dockerfile)
	if _, err := os.Stat(recipe); err != nil {
		cfg.Reject("kic:source", "is not the source of the ingress controller: %w", err)
		return source{}
	}
	sum, err := fingerprint(path)
	if err != nil {
		cfg.Reject("kic:source", "cannot be read: %w", err)
	}
	return source{context: path, dockerfile: recipe, tag: localTag, fingerprint: sum}
}

// buildOS returns the value of the Dockerfile's BUILD_OS for the Makefile's target.
func buildOS(cfg *settings.Settings) string {
	plus := cfg.Bool("kic:nginx_plus")
	target := cfg.String("kic:source_target")
	if target == "" {
		target = "debian-image"
		if plus {
			target = "debian-image-plus"
		}
	}
	if plus != strings.Contains(target, "-plus") {
		cfg.Reject("kic:source_target", "is %s, which does not agree with kic:nginx_plus, which is %v", target, plus)
	}
	if target == "ubi-image-plus" {
		return "ubi-9-plus"
	}
	return strings.Replace(target, "-image", "", 1)
}

// buildSecrets names the files that open the repository of NGINX Plus.
func buildSecrets(cfg *settings.Settings) docker.RemoteImageBuildSecretArrayInput {
	if !cfg.Bool("kic:nginx_plus") {
		return nil
	}
	return docker.RemoteImageBuildSecretArray{
		docker.RemoteImageBuildSecretArgs{
			Id: pulumi.String("nginx-repo.crt"), Src: pulumi.String(file(cfg, "kic:repo_cert_path")),
		},
		docker.RemoteImageBuildSecretArgs{
			Id: pulumi.String("nginx-repo.key"), Src: pulumi.String(file(cfg, "kic:repo_key_path")),
		},
	}
}
