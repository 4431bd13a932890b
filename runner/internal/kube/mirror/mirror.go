// Package mirror lists the charts and images that a mirror for clusters without internet
// needs, and copies them.
//
// The list comes from a simulated run of the programs: Needs collects their Helm releases
// and images. It fetches the chart of each release and renders it with Helm's own engine
// and the program's values; the rendered objects name the rest of the images. So the list
// is right for any version, any values, and any user's project.
package mirror

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"mara/projects/naming"
	"mara/runner/internal/run/event"
)

// Chart is a Helm chart in a mirror.
type Chart struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Repository string   `json:"repository"` // https://... or oci://..., without the name
	Target     string   `json:"target"`     // in the mirror, without its address
	Projects   []string `json:"projects"`
}

// Source returns the chart's address for messages, with passwords masked.
func (c Chart) Source() string { return event.MaskURLs(c.source()) }

func (c Chart) source() string {
	return strings.TrimSuffix(c.Repository, "/") + "/" + c.Name + ":" + c.Version
}

// tag returns the version as a tag of a registry, which cannot contain a plus sign.
func (c Chart) tag() string { return strings.ReplaceAll(c.Version, "+", "_") }

// Image is a container image in a mirror.
type Image struct {
	Name     string   `json:"name"`
	Target   string   `json:"target"` // in the mirror, without its address
	Digest   string   `json:"digest,omitempty"`
	Projects []string `json:"projects"`
}

// targetOf returns an image's name in any mirror, without the mirror's address.
func targetOf(image string) string {
	const anywhere = "mirror.invalid"
	return strings.TrimPrefix(naming.InMirror(anywhere, image), anywhere+"/")
}

// List has the charts and images of a mirror.
type List struct {
	Charts []Chart `json:"charts"`
	Images []Image `json:"images"`
}

// newList merges the needs of the projects, and sorts them by name.
func newList(charts map[string]Chart, images map[string][]string) (List, error) {
	var list List
	for _, chart := range charts {
		chart.Target = strings.TrimPrefix(naming.ChartsInMirror("")+"/"+chart.Name+":"+chart.tag(), "/")
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
			other.Projects = union(other.Projects, images[image])
			byTarget[target] = other
			continue
		}
		_, digest, _ := strings.Cut(image, "@")
		byTarget[target] = Image{Name: image, Target: target, Digest: digest, Projects: images[image]}
	}
	list.Images = slices.SortedFunc(maps.Values(byTarget), func(a, b Image) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// same reports whether two names mean the same image: busybox:1 is
// docker.io/library/busybox:1.
func same(a, b string) bool {
	first, errFirst := name.ParseReference(a)
	second, errSecond := name.ParseReference(b)
	return errFirst == nil && errSecond == nil && first.Name() == second.Name()
}

// union returns the sorted names that are in a or b.
func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}
