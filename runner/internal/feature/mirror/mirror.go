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
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"

	"mara/config/lists"
	"mara/projects/naming"
	"mara/runner/internal/core/event"
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
	sources := map[string]string{} // by target
	for _, source := range lists.Keys(charts) {
		chart := charts[source]
		chart.Target = strings.TrimPrefix(naming.ChartsInMirror("")+"/"+chart.Name+":"+chart.tag(), "/")
		if other := sources[chart.Target]; other != "" {
			return List{}, fmt.Errorf("the charts %s and %s would both be %s in the mirror: install one of them under "+
				"another version, or from one repository", event.MaskURLs(other), chart.Source(), chart.Target)
		}
		sources[chart.Target] = source
		list.Charts = append(list.Charts, chart)
	}
	slices.SortFunc(list.Charts, func(a, b Chart) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	for _, image := range lists.Keys(images) {
		target := targetOf(image)
		i := slices.IndexFunc(list.Images, func(other Image) bool { return other.Target == target })
		if i < 0 {
			_, digest, _ := strings.Cut(image, "@")
			list.Images = append(list.Images, Image{Name: image, Target: target, Digest: digest, Projects: images[image]})
			continue
		}
		other := &list.Images[i]
		if !same(other.Name, image) {
			return List{}, fmt.Errorf("%s and %s would both be %s in the mirror", other.Name, image, target)
		}
		other.Projects = union(other.Projects, images[image])
	}
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

// ReleaseToken is the type of a Helm release.
const ReleaseToken = "kubernetes:helm.sh/v3:Release"

// registryImage is the type of an image that the environment pushes to its own registry.
const registryImage = "docker:index/registryImage:RegistryImage"

// imageInputs are the inputs that name an image, by resource type. Kubernetes objects are
// searched instead.
var imageInputs = map[string]string{
	"docker:index/remoteImage:RemoteImage": "name",
	"docker:index/container:Container":     "image",
	"kind:index:Cluster":                   "nodeImage",
	"kind:index:Registry":                  "image",
}

// Release is a Helm release as a program declares it.
type Release struct {
	Project    string
	Name       string
	Namespace  string
	Chart      string // name, or oci://...
	Version    string
	Repository string // of a classic chart; "" for OCI
	Values     map[string]any
	SkipCRDs   bool // skips the chart's directory crds
}

// Needs collects the charts and images of resources. It is safe for concurrent use.
type Needs struct {
	Clusters // whose version charts are rendered for

	mu       sync.Mutex // protects the rest
	releases []Release
	uses     []use    // of images
	own      []string // images in the environment's own registry, without tag
}

// use is a project that uses an image.
type use struct{ project, image string }

// Saw records a resource of a project.
func (n *Needs) Saw(project, token string, inputs map[string]any) {
	n.Clusters.Saw(project, token, inputs)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch input, known := imageInputs[token]; {
	case token == ReleaseToken:
		n.releases = append(n.releases, ReleaseOf(project, inputs))
	case token == registryImage:
		n.own = append(n.own, repositoryOf(text(inputs, "name")))
	case known && inputs["build"] == nil: // an image built here is not pulled
		n.add(project, text(inputs, input))
	case strings.HasPrefix(token, "kubernetes:"):
		n.add(project, imagesIn(inputs)...)
	}
}

func (n *Needs) add(project string, images ...string) {
	for _, image := range images {
		if image != "" {
			n.uses = append(n.uses, use{project, image})
		}
	}
}

// ReleaseOf parses the inputs of a Helm release.
func ReleaseOf(project string, inputs map[string]any) Release {
	values, _ := inputs["values"].(map[string]any)
	options, _ := inputs["repositoryOpts"].(map[string]any)
	skip, _ := inputs["skipCrds"].(bool)
	return Release{
		Project: project, Name: text(inputs, "name"), Namespace: text(inputs, "namespace"),
		Chart: text(inputs, "chart"), Version: text(inputs, "version"), Repository: text(options, "repo"), Values: values,
		SkipCRDs: skip,
	}
}

func text(m map[string]any, key string) string {
	found, _ := m[key].(string)
	return found
}

// Source returns the release's chart.
func (r Release) Source() Chart {
	if r.Repository == "" {
		name := path.Base(r.Chart)
		return Chart{Name: name, Version: r.Version, Repository: strings.TrimSuffix(r.Chart, "/"+name)}
	}
	return Chart{Name: r.Chart, Version: r.Version, Repository: strings.TrimSuffix(r.Repository, "/")}
}

// Fetcher downloads the archive of a chart.
type Fetcher interface {
	Fetch(ctx context.Context, chart Chart) ([]byte, error)
}

// List returns the charts and images of the projects that counts selects. It fetches and
// renders their charts.
func (n *Needs) List(ctx context.Context, from Fetcher, counts func(project string) bool) (List, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	charts := map[string]Chart{} // by source
	for _, release := range n.releases {
		if !counts(release.Project) {
			continue
		}
		chart := release.Source()
		chart.Projects = union(charts[chart.source()].Projects, []string{release.Project})
		charts[chart.source()] = chart
		archive, err := from.Fetch(ctx, chart)
		if err != nil {
			return List{}, err
		}
		objects, err := Render(archive, release, n.Kubernetes())
		if err != nil {
			return List{}, fmt.Errorf("project %s: %w", release.Project, err)
		}
		for _, object := range objects {
			n.add(release.Project, imagesIn(map[string]any(object))...)
		}
	}
	images := map[string][]string{} // the projects that use them
	for _, u := range n.uses {
		if counts(u.project) && !slices.Contains(n.own, repositoryOf(u.image)) {
			images[u.image] = union(images[u.image], []string{u.project})
		}
	}
	return newList(charts, images)
}

// repositoryOf returns an image's name without tag and digest.
func repositoryOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		return image[:colon]
	}
	return image
}

// imagesIn lists the images that an object names: in any field named image, at any depth,
// for custom resources have them in different places; in arguments, which configure the
// images of operators; and in environment variables whose names contain IMAGE.
func imagesIn(object any) []string {
	var found []string
	switch typed := object.(type) {
	case map[string]any:
		if image, ok := typed["image"].(string); ok && image != "" {
			found = append(found, image)
		}
		if variable := strings.ToUpper(text(typed, "name")); strings.Contains(variable, "IMAGE") {
			found = append(found, pinned(text(typed, "value"))...)
		}
		for key, value := range typed {
			if key == "args" || key == "command" {
				found = append(found, imagesInArguments(value)...)
			}
			found = append(found, imagesIn(value)...)
		}
	case []any:
		for _, item := range typed {
			found = append(found, imagesIn(item)...)
		}
	}
	return found
}

// imagesInArguments lists the values of flags that are images. Either the value begins
// with a registry's host, or the name of the flag contains image.
func imagesInArguments(arguments any) []string {
	list, _ := arguments.([]any)
	var found []string
	for _, item := range list {
		argument, _ := item.(string)
		flag, value, ok := strings.Cut(argument, "=")
		if ok && strings.HasPrefix(flag, "-") && (strings.Contains(flag, "image") || hosted.MatchString(value)) {
			found = append(found, pinned(value)...)
		}
	}
	return found
}

// The grammar of image names with a tag or a digest; hosted ones begin with the
// host of a registry.
var (
	tagged = regexp.MustCompile(`^[a-zA-Z0-9][\w.-]*(?::\d+)?(?:/[a-z0-9][\w.-]*)*` +
		`(?::\w[\w.-]*|(?::\w[\w.-]*)?@sha256:[0-9a-f]+)$`)
	hosted = regexp.MustCompile(`^(?:[\w-]+(?:\.[\w-]+)+(?::\d+)?|localhost(?::\d+)?|[\w-]+:\d+)/[^:]+[:@]`)
)

// pinned returns the text if it is an image name with a tag or a digest.
func pinned(text string) []string {
	if !tagged.MatchString(text) {
		return nil
	}
	return []string{text}
}
