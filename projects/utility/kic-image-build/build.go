package imagebuild

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi-docker/sdk/v4/go/docker"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/settings"
)

// Facts of the source's Makefile.
const (
	compileTarget = "container" // compiles inside Docker: no Go needed here
	localTag      = "local"     // tag of an image built from a directory
)

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
	image := &docker.RemoteImageArgs{
		Name:     pulumi.String("mara/nginx-ingress:" + from.tag + "-" + stack),
		Platform: platform(cfg),
		Build: docker.RemoteImageBuildArgs{
			// Build secrets need BuildKit, which a named builder asks for.
			Builder:    pulumi.String("default"),
			Context:    pulumi.String(from.context),
			Dockerfile: pulumi.String(from.dockerfile),
			Target:     pulumi.String(compileTarget),
			Platform:   platform(cfg),
			BuildArgs:  pulumi.ToStringMap(map[string]string{"BUILD_OS": buildOS(cfg), "IC_VERSION": from.tag}),
			Secrets:    buildSecrets(cfg),
		},
		Triggers: pulumi.ToStringMap(map[string]string{
			"source": from.fingerprint, "rebuild": cfg.String("kic:source_rebuild"),
		}),
		ForceRemove: pulumi.Bool(true),
	}
	return wanted{args: image, tag: from.tag}
}

// readSource reads where the source is: a git URL or a directory.
func readSource(cfg *settings.Settings) source {
	location := cfg.String("kic:source")
	var from source
	if filepath.IsAbs(location) {
		from = directory(cfg, location)
	} else {
		_, ref, _ := strings.Cut(location, "#")
		from = source{
			context: location, dockerfile: projects.KICDockerfile, fingerprint: location,
			tag: strings.TrimPrefix(strings.ReplaceAll(ref, "/", "-"), "v"),
		}
	}
	from.tag = cmp.Or(cfg.String("kic:source_tag"), from.tag)
	return from
}

// directory reads a source that is a directory of this machine.
func directory(cfg *settings.Settings, path string) source {
	sum, err := fingerprint(path)
	if err != nil && cfg.Err() == nil { // else a rule has said it
		cfg.Reject("kic:source", "cannot be read: %w", err)
	}
	return source{context: path, dockerfile: filepath.Join(path, projects.KICDockerfile), tag: localTag, fingerprint: sum}
}

// buildOS returns the value of the Dockerfile's BUILD_OS for the Makefile's target.
func buildOS(cfg *settings.Settings) string {
	usual := "debian-image"
	if cfg.Bool("kic:nginx_plus") {
		usual = "debian-image-plus"
	}
	target := cmp.Or(cfg.String("kic:source_target"), usual)
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
	secret := func(id, key string) docker.RemoteImageBuildSecretArgs {
		return docker.RemoteImageBuildSecretArgs{Id: pulumi.String(id), Src: pulumi.String(cfg.String(key))}
	}
	return docker.RemoteImageBuildSecretArray{
		secret("nginx-repo.crt", "kic:repo_cert_path"), secret("nginx-repo.key", "kic:repo_key_path"),
	}
}

// fingerprint sums up a directory: names, permissions and contents of everything
// inside, in order. The history in .git is skipped, because it changes without
// the source.
func fingerprint(root string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		// The size keeps the end of one file apart from the start of the next name.
		fmt.Fprintf(sum, "%q %v %d\n", filepath.ToSlash(name), info.Mode(), info.Size())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			fmt.Fprintf(sum, "%q\n", target)
			return err
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			sum.Write(content)
			return err
		}
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}
