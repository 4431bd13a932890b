// Package mirror names images as a mirror has them, for networks without
// internet. It is pure.
package mirror

import (
	"strings"

	"mara/projects"
	"mara/projects/internal/settings"
)

// Of is the configured mirror, a registry host and an optional path; "" when
// there is none.
func Of(cfg *settings.Settings) string {
	return strings.Trim(cfg.String(projects.Mirror), "/")
}

// Image is an image in a mirror, which takes the place of the image's own
// registry. Without a mirror, or there already, it is the image itself.
func Image(mirror, name string) string {
	if mirror == "" || strings.HasPrefix(name, mirror+"/") {
		return name
	}
	return mirror + "/" + withoutRegistry(name)
}

// withoutRegistry strips the registry host of an image name, as Docker tells
// it apart: by a dot, a port, or "localhost". Docker's own images, which have
// no slash, are below library.
func withoutRegistry(name string) string {
	host, rest, found := strings.Cut(name, "/")
	switch {
	case !found:
		return "library/" + name
	case strings.ContainsAny(host, ".:") || host == "localhost":
		return rest
	}
	return name
}
