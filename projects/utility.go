package projects

import (
	"time"

	"mara/config"
	"mara/projects/model"
)

// The images of the ingress controller that are pulled when the configuration
// names none: the open source edition, and NGINX Plus.
const (
	KICImage     = "nginx/nginx-ingress:" + kicVersion
	KICPlusImage = "private-registry.nginx.com/nginx-ic/nginx-plus-ingress:" + kicVersion
)

// The release of the ingress controller and its source.
const (
	kicVersion = "5.5.4"
	kicSource  = "https://github.com/nginx/kubernetes-ingress.git#v" + kicVersion
)

// utilityProjects lists the projects that build and push images.
func utilityProjects() []model.Project {
	return []model.Project{KICImageBuild(), KICImagePush()}
}

// KICImageBuild makes the image of the ingress controller.
func KICImageBuild() model.Project {
	return model.Project{
		Name: "kic-image-build", Path: "utility/kic-image-build", Title: "KIC Image Build", Estimate: 3 * time.Minute,
		Summary: "the ingress controller's image on this machine: pulled, or built from source",
		Keys: []config.Key{
			infraTypeKey(),
			mirrorKey(),
			plusKey(),
			{Name: "kic:image_origin", Kind: config.String, Default: "registry",
				Allowed: []string{"registry", "source"}, Example: "source",
				Doc: "registry pulls kic:image_name; source builds kic:source"},
			{Name: "kic:image_name", Kind: config.String, Form: taggedImage, Example: KICImage,
				Doc: "image to pull, with a tag and optionally a digest; " + KICImage +
					" when not set, or with NGINX Plus " + KICPlusImage},
			{Name: "kic:platform", Kind: config.String, Form: config.Platform, Example: "linux/arm64",
				Doc: "platform of the image; when not set, that of this machine on kind, and linux/amd64 in the clouds"},
			{Name: "kic:jwt_path", Kind: config.String, Form: config.AbsolutePath, Example: "/home/me/nginx-repo.jwt",
				Doc: "file with the licence token of NGINX Plus, needed to pull from private-registry.nginx.com"},
			{Name: "kic:source", Kind: config.String, Form: kicLocation, Default: kicSource,
				Example: "/home/me/kubernetes-ingress",
				Doc:     "source to build: a git URL with #tag, or the absolute path of a directory"},
			{Name: "kic:source_target", Kind: config.String, Example: "alpine-image",
				Allowed: []string{"debian-image", "alpine-image", "ubi-image",
					"debian-image-plus", "alpine-image-plus", "alpine-image-plus-fips", "ubi-image-plus"},
				Doc: "image to build, as the source's Makefile names it; " +
					"debian-image when not set, or with NGINX Plus debian-image-plus"},
			{Name: "kic:source_tag", Kind: config.String, Form: imageTag, Example: "5.5.4-mine",
				Doc: "tag of the built image; when not set, the git tag without its v, or local for a directory"},
			{Name: "kic:source_rebuild", Kind: config.String, Example: "2026-11-20",
				Doc: "any text: changing it builds again, as for a git branch that has moved"},
			{Name: "kic:repo_cert_path", Kind: config.String, Form: config.AbsolutePath, Example: "/home/me/nginx-repo.crt",
				Doc: "file with the certificate for the repository of NGINX Plus, needed to build it; used as a build secret"},
			{Name: "kic:repo_key_path", Kind: config.String, Form: config.AbsolutePath, Example: "/home/me/nginx-repo.key",
				Doc: "file with the key for the repository of NGINX Plus, needed to build it; used as a build secret"},
		},
		Rules: []config.Rule{controllerImage},
		Outputs: []model.Output{
			{Name: "image_name", Doc: "name of the image on this machine, with its tag"},
			{Name: "image_tag", Doc: "tag of the image"},
			{Name: "image_id", Doc: "id of the image on this machine: changes with its content"},
		},
	}
}

// KICImagePush pushes the image of the ingress controller to the registry.
func KICImagePush() model.Project {
	return model.Project{
		Name: "kic-image-push", Path: "utility/kic-image-push", Title: "KIC Image Push", Estimate: time.Minute,
		Summary: "the ingress controller's image in the environment's registry",
		Keys: append([]config.Key{infraTypeKey()},
			registryKeys(func(r model.Registry) config.Key { return r.Directory })...),
		Settled: []string{"aws:ecr/getAuthorizationToken:getAuthorizationToken"}, // a password, new each time
		Outputs: []model.Output{
			{Name: "image_repository", Doc: "repository of the image as the cluster pulls it, without tag"},
			{Name: "image_tag", Doc: "tag of the image"},
			{Name: "image_digest", Doc: "digest of the pushed image: sha256:..."},
			{Name: "image_reference", Doc: "the pushed image in full: repository:tag@digest"},
		},
	}
}
