// Package render turns the cluster resources that programs declare into Kubernetes
// manifests for other tools to apply: a directory per project, whose files are numbered
// so that definitions and namespaces come first. It is deterministic.
//
// Its input are the resource inputs of a simulated run or of a saved plan, with masked
// secrets. Helm's own library renders Helm releases. Objects that cannot be manifests are
// skipped, with a reason.
package render

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/kube/manifest"
)

// The placeholders for secret and unknown values.
const (
	Secret  = "[secret]"
	Unknown = "[unknown]"
)

// Resource is a resource as a program declares it.
type Resource struct {
	Project, Token, Name string
	URN                  string // optional
	Namespace            string // the provider's default for objects without a namespace
	Inputs               map[string]any
	// Values are the inputs with secret values. They are set only for a Secret that is to
	// be sealed and contains no placeholder of a simulation.
	Values map[string]any
}

// IsSecret reports whether the resource is a Secret of Kubernetes.
func (r Resource) IsSecret() bool { return r.Token == "kubernetes:core/v1:Secret" }

// isKubernetes reports whether the resource is in a cluster.
func (r Resource) isKubernetes() bool { return strings.HasPrefix(r.Token, "kubernetes:") }

// Manifests are the objects of projects, in the order of the plan.
type Manifests struct {
	Projects []Project `json:"projects"`
	// Elsewhere lists the projects without resources in the cluster.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// Project has the objects of one project.
type Project struct {
	Name      string    `json:"project"`
	Directory string    `json:"directory"`
	Objects   []Object  `json:"objects"`
	Skipped   []Skipped `json:"left_out,omitempty"`
	// Placeholders are the values that simulated clouds generated.
	Placeholders []Placeholder `json:"made_up,omitempty"`
	// Unsteady lists chart objects that differ each time they are rendered.
	Unsteady []string `json:"unsteady,omitempty"`
}

// Object is one object, and the file it is written to.
type Object struct {
	File      string          `json:"file"` // in the project's directory
	Kind      string          `json:"kind"`
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name"`
	Content   manifest.Object `json:"object"`

	release bool // of a Helm release
}

// Skipped is a resource or object without a manifest.
type Skipped struct {
	What string   `json:"what"`
	Why  string   `json:"why"`
	Keys []string `json:"keys,omitempty"` // of a Secret
}

// Options configure Build.
type Options struct {
	Charts  mirror.Fetcher
	Cluster mirror.Kubernetes // charts are rendered for
	Order   []string          // the projects of the plan, in order; it numbers the directories
	Store   *Store            // makes ExternalSecrets of Secrets; nil skips them
	Sealer  *Sealer           // makes SealedSecrets of Secrets; nil skips them
}

// Build renders the manifests of resources.
func Build(ctx context.Context, o Options, resources []Resource) (Manifests, error) {
	projects := map[string]*builder{}
	for _, r := range resources {
		if projects[r.Project] == nil {
			projects[r.Project] = &builder{Options: o}
		}
		if err := projects[r.Project].add(ctx, r); err != nil {
			return Manifests{}, fmt.Errorf("project %s: %w", r.Project, err)
		}
	}
	scopes := scopes{}
	for _, b := range projects {
		for _, f := range b.found {
			scopes.learn(f.object)
		}
	}
	var m Manifests
	for i, name := range o.Order {
		b := projects[name]
		switch {
		case b == nil:
		case len(b.found)+len(b.skipped) == 0:
			m.Elsewhere = append(m.Elsewhere, name)
		default:
			m.Projects = append(m.Projects, b.project(name, fmt.Sprintf("%02d-%s", i+1, name), scopes))
		}
	}
	return m, nil
}

// found is an object of a resource or of a release.
type found struct {
	object    manifest.Object
	logical   string // what the program calls the resource
	namespace string // default, if its kind has namespaces
	release   bool
	readable  bool // a Secret whose values are known
}

// builder collects the objects of one project.
type builder struct {
	Options
	found    []found
	skipped  []Skipped
	unsteady []string
}

func (b *builder) skip(what, why string) {
	b.skipped = append(b.skipped, Skipped{What: what, Why: why})
}

// add collects the objects of a resource.
func (b *builder) add(ctx context.Context, r Resource) error {
	_, kind, _ := strings.Cut(strings.TrimPrefix(r.Token, "kubernetes:"), ":")
	switch {
	case !r.isKubernetes():
	case r.Token == mirror.ReleaseToken:
		return b.addRelease(ctx, r)
	case strings.HasSuffix(kind, "Patch"):
		b.skip(r.Token+" "+r.Name, "patches an object that the project does not create")
	case strings.HasPrefix(r.Token, "kubernetes:helm.sh/"), strings.HasPrefix(r.Token, "kubernetes:yaml"),
		strings.HasPrefix(r.Token, "kubernetes:kustomize"):
		b.skip(r.Token+" "+r.Name, "creates objects that the simulation does not see")
	case b.Sealer != nil && r.Values != nil:
		b.found = append(b.found, found{object: manifest.Of(r.Token, r.Values), logical: r.Name,
			namespace: cmp.Or(r.Namespace, "default"), readable: true})
	default:
		for _, object := range manifest.Of(r.Token, r.Inputs).Parts() {
			b.found = append(b.found, found{object: object, logical: r.Name, namespace: cmp.Or(r.Namespace, "default")})
		}
	}
	return nil
}

// addRelease fetches and renders the chart of a release. It renders twice, to find objects that differ each time.
func (b *builder) addRelease(ctx context.Context, r Resource) error {
	release := mirror.ReleaseOf(r.Project, r.Inputs)
	release.Namespace = cmp.Or(release.Namespace, r.Namespace, "default")
	what := "Helm release " + cmp.Or(release.Name, r.Name)
	source := release.Chart + release.Version + release.Repository + release.Name + release.Namespace
	if strings.Contains(source, Unknown) {
		b.skip(what, "has an unknown chart")
		return nil
	}
	if files, ok := r.Inputs["valueYamlFiles"].([]any); ok && len(files) > 0 {
		b.skip(what, "has values in files that only its program can read (valueYamlFiles)")
		return nil
	}
	archive, err := b.Charts.Fetch(ctx, release.Source())
	if err != nil {
		return err
	}
	objects, err := mirror.Render(archive, release, b.Cluster)
	if err != nil {
		return err
	}
	again, err := mirror.Render(archive, release, b.Cluster)
	if err != nil {
		return err
	}
	if r.Inputs["createNamespace"] == true {
		b.found = append(b.found, found{object: manifest.Object{"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": release.Namespace}}})
	}
	for i, object := range objects {
		if i < len(again) && !reflect.DeepEqual(object, again[i]) && !isSecret(object) {
			b.unsteady = append(b.unsteady, object.String())
		}
		b.found = append(b.found, found{object: object, namespace: release.Namespace, release: true})
	}
	return nil
}

// project returns the project with its objects in order.
func (b *builder) project(name, dir string, scopes scopes) Project {
	p := Project{Name: name, Directory: dir, Skipped: b.skipped, Unsteady: b.unsteady, Objects: []Object{}}
	for i := range b.found {
		b.found[i].object = complete(b.found[i], scopes)
	}
	var key []byte
	if b.Sealer != nil {
		key = b.Sealer.Names
	}
	nameByContent(b.found, key)
	for _, f := range b.found {
		object := f.object
		if b.Store != nil && isSecret(object) && !f.release && len(secretKeys(object)) > 0 {
			object = b.Store.external(object) // the Secrets of charts stay as they are
		}
		if b.Sealer != nil && isSecret(object) {
			sealed, why := b.seal(f, object)
			if why != "" {
				p.Skipped = append(p.Skipped, Skipped{What: object.String(), Why: "is a Secret, and " + why,
					Keys: secretKeys(object)})
				continue
			}
			object = sealed
		}
		if left, ok := unfit(object, f.release); ok {
			p.Skipped = append(p.Skipped, left)
			continue
		}
		p.Objects = append(p.Objects, Object{
			Kind: object.Text("kind"), Namespace: object.Text("metadata", "namespace"), Name: object.Text("metadata", "name"),
			Content: object, release: f.release,
		})
	}
	leaveToScalers(p.Objects)
	markJobs(p.Objects)
	nameFiles(p.Objects)
	slices.SortFunc(p.Objects, func(a, b Object) int { return cmp.Compare(a.File, b.File) })
	slices.SortFunc(p.Skipped, func(a, b Skipped) int { return cmp.Compare(a.What, b.What) })
	slices.Sort(p.Unsteady)
	return p
}

// seal seals a Secret, or returns the reason why it cannot.
func (b *builder) seal(f found, secret manifest.Object) (manifest.Object, string) {
	switch {
	case f.release:
		return nil, "its chart creates it"
	case !f.readable:
		return nil, "its values are outputs of other resources, which the simulation generates"
	}
	sealed, err := b.Sealer.sealed(secret)
	if err != nil {
		return nil, err.Error()
	}
	return sealed, ""
}

// unfit returns the reason why an object cannot be a manifest, if there is one.
func unfit(object manifest.Object, ofRelease bool) (Skipped, bool) {
	what := object.String()
	hook := object.Text("metadata", "annotations", hookAnnotation)
	switch {
	case isSecret(object):
		return Skipped{What: what, Why: "is a Secret", Keys: secretKeys(object)}, true
	case ofRelease && hook != "" && !slices.ContainsFunc(strings.Split(hook, ","), installs):
		return Skipped{What: what, Why: "is a Helm hook for " + hook + ", which only Helm runs"}, true
	}
	for _, value := range []struct{ text, why string }{{Secret, "has a secret value"},
		{Unknown, "has an unknown value"}} {
		if path := pathOf(object, value.text); path != "" {
			return Skipped{What: what, Why: value.why + " in " + path}, true
		}
	}
	return Skipped{}, false
}

// isSecret reports whether an object is a Secret of Kubernetes.
func isSecret(object manifest.Object) bool {
	return object.Text("kind") == "Secret" && object.Text("apiVersion") == "v1"
}

// secretKeys returns the sorted keys of a Secret.
func secretKeys(object manifest.Object) []string {
	var keys []string
	for _, field := range []string{"data", "stringData"} {
		if values, ok := object[field].(map[string]any); ok {
			keys = slices.AppendSeq(keys, maps.Keys(values))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(keys)))
}

// pathOf returns the path of the first field that contains a string, or "".
func pathOf(object manifest.Object, text string) string {
	found := ""
	eachText(map[string]any(object), "", func(path, value string) {
		if found == "" && strings.Contains(value, text) {
			found = "." + path
		}
	})
	return found
}
