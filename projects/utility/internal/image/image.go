// Package image takes the names of container images apart. It is pure.
package image

import (
	"fmt"
	"regexp"
	"strings"
)

// Reference is an image name in its parts: REGISTRY/REPOSITORY:TAG@DIGEST.
type Reference struct {
	Registry   string // "ghcr.io"; "" for Docker Hub
	Repository string // "nginx/nginx-ingress"
	Tag        string // "5.5.4"
	Digest     string // "sha256:..."; "" when not pinned
}

// The grammar of distribution/reference, without its rare corners.
var (
	repositoryPattern = regexp.MustCompile(
		`^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*$`)
	tagPattern    = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
	digestPattern = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)
)

// Parse reads an image name. It must have a tag: an image without one would be
// a different image from day to day.
func Parse(name string) (Reference, error) {
	var ref Reference
	rest, digest, pinned := strings.Cut(name, "@")
	ref.Digest = digest
	if pinned && !digestPattern.MatchString(digest) {
		return Reference{}, fmt.Errorf("%q has a digest that is not sha256: and 64 hexadecimal digits", name)
	}
	if slash, colon := strings.LastIndex(rest, "/"), strings.LastIndex(rest, ":"); colon > slash {
		rest, ref.Tag = rest[:colon], rest[colon+1:]
	}
	if !ValidTag(ref.Tag) {
		return Reference{}, fmt.Errorf("%q has no tag; give one, such as %s:1.2.3", name, rest)
	}
	ref.Registry, ref.Repository = splitRegistry(rest)
	if !repositoryPattern.MatchString(ref.Repository) {
		return Reference{}, fmt.Errorf("%q is not the name of an image, such as nginx/nginx-ingress:5.5.4", name)
	}
	return ref, nil
}

// ValidTag reports whether the text can be a tag.
func ValidTag(tag string) bool { return tagPattern.MatchString(tag) }

// splitRegistry takes the registry's host off, as Docker tells it apart: by a
// dot, a port, or "localhost".
func splitRegistry(name string) (registry, repository string) {
	host, rest, found := strings.Cut(name, "/")
	if found && (strings.ContainsAny(host, ".:") || host == "localhost") {
		return host, rest
	}
	return "", name
}

// String returns the image's name in full.
func (r Reference) String() string {
	name := strings.TrimPrefix(r.Registry+"/"+r.Repository, "/") + ":" + r.Tag
	if r.Digest != "" {
		name += "@" + r.Digest
	}
	return name
}
