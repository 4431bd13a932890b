// Package mirror knows what a mirror for clusters without internet has to hold,
// and fills it.
//
// What is needed follows from what the programs declare in a simulated run:
// Needs collects their Helm releases and images. A release's chart is fetched
// and rendered by Helm's own engine, with the program's values, and the
// rendered objects name the rest of the images. So the list is right for any
// version and any values, also of projects that the runner knows nothing about.
package mirror

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"mara/projects/naming"
	"mara/runner/internal/event"
)

// Chart is a Helm chart that a mirror has to hold.
type Chart struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Repository string   `json:"repository"` // https://... or oci://..., without the name
	Target     string   `json:"target"`     // in the mirror, without its address
	Projects   []string `json:"projects"`
}

// Source is where the chart comes from, for people to read: without a login.
func (c Chart) Source() string { return event.MaskURLs(c.source()) }

func (c Chart) source() string {
	return strings.TrimSuffix(c.Repository, "/") + "/" + c.Name + ":" + c.Version
}

// tag is the version as a tag of a registry, which cannot have a plus sign.
func (c Chart) tag() string { return strings.ReplaceAll(c.Version, "+", "_") }

// Image is a container image that a mirror has to hold.
type Image struct {
	Name     string   `json:"name"`
	Target   string   `json:"target"` // in the mirror, without its address
	Digest   string   `json:"digest,omitempty"`
	Projects []string `json:"projects"`
}

// digestIn is the part of an image's name that pins it; "" when nothing does.
func digestIn(image string) string {
	_, digest, _ := strings.Cut(image, "@")
	return digest
}

// targetOf is the name of an image in any mirror, without the mirror's address.
func targetOf(image string) string {
	const anywhere = "mirror.invalid"
	return strings.TrimPrefix(naming.InMirror(anywhere, image), anywhere+"/")
}

// List is what a mirror has to hold.
type List struct {
	Charts []Chart `json:"charts"`
	Images []Image `json:"images"`
}

// newList puts together what the projects need, by name.
func newList(charts map[chartID]projectSet, images map[string]projectSet) (List, error) {
	var list List
	for id, users := range charts {
		chart := Chart{Name: id.name, Version: id.version, Repository: id.repository, Projects: users.names()}
		chart.Target = strings.TrimPrefix(naming.ChartsInMirror("")+"/"+id.name+":"+chart.tag(), "/")
		list.Charts = append(list.Charts, chart)
	}
	slices.SortFunc(list.Charts, func(a, b Chart) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	byTarget := map[string]Image{}
	for _, image := range slices.Sorted(maps.Keys(images)) {
		target := targetOf(image)
		if other, ok := byTarget[target]; ok {
			if !same(other.Name, image) {
				return List{}, fmt.Errorf("%s and %s would both be %s in the mirror", other.Name, image, target)
			}
			other.Projects = slices.Compact(slices.Sorted(slices.Values(slices.Concat(other.Projects, images[image].names()))))
			byTarget[target] = other
			continue
		}
		byTarget[target] = Image{Name: image, Target: target, Digest: digestIn(image), Projects: images[image].names()}
	}
	list.Images = slices.SortedFunc(maps.Values(byTarget), func(a, b Image) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// same reports whether two names mean one image: busybox:1 is
// docker.io/library/busybox:1.
func same(a, b string) bool {
	first, errFirst := name.ParseReference(a)
	second, errSecond := name.ParseReference(b)
	return errFirst == nil && errSecond == nil && first.Name() == second.Name()
}

// projectSet is a set of projects.
type projectSet map[string]bool

func (s projectSet) names() []string { return slices.Sorted(maps.Keys(s)) }
