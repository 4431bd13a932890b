package naming

import "strings"

// InMirror returns the name of an image in a mirror: a registry host with an optional path,
// which replaces the image's own registry. It returns the image's own name without a mirror,
// or if the image is there already. Docker's own images, which have no slash, are below library.
func InMirror(mirror, image string) string {
	mirror = strings.Trim(mirror, "/")
	if mirror == "" || strings.HasPrefix(image, mirror+"/") {
		return image
	}
	_, repository := SplitRegistry(image)
	if !strings.Contains(image, "/") {
		repository = "library/" + image
	}
	return mirror + "/" + repository
}

// ChartsInMirror returns the directory of a mirror that holds all charts, as OCI artifacts under
// their own names.
func ChartsInMirror(mirror string) string { return strings.Trim(mirror, "/") + "/charts" }

// SplitRegistry separates the registry host of an image name, as Docker tells it apart: by a dot, a port, or
// "localhost". It is "" for Docker Hub.
func SplitRegistry(image string) (host, repository string) {
	host, rest, found := strings.Cut(image, "/")
	if found && (strings.ContainsAny(host, ".:") || host == "localhost") {
		return host, rest
	}
	return "", image
}
