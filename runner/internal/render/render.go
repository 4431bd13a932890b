// Package render turns what programs declare in a cluster into Kubernetes
// manifests, for whoever applies them with something else: a folder for each
// project, whose files are numbered so that definitions and namespaces come first.
// The same declarations give the same files.
//
// It works on the inputs of resources, from a simulated run or from a plan of an
// up, in which secrets are masked. Helm releases are rendered by Helm's own
// library. What a manifest cannot have is left out, with the reason.
package render

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"mara/runner/internal/manifest"
	"mara/runner/internal/mirror"
)

// The texts in the place of values: secret ones, and those that are not known yet.
const (
	Secret  = "[secret]"
	Unknown = "[unknown]"
)

// Resource is a resource as a program declares it.
type Resource struct {
	Project, Token, Name string
	URN                  string // "" where it does not matter
	Namespace            string // that the Kubernetes provider gives to objects without one
	Inputs               map[string]any
	// Values are the inputs with their secret values, for a Secret that is to be sealed
	// and has nothing in it that a simulation has made up; else nil.
	Values map[string]any
}

// IsSecret reports whether the resource is a Secret of Kubernetes.
func (r Resource) IsSecret() bool { return r.Token == "kubernetes:core/v1:Secret" }

// isKubernetes reports whether the resource is something in a cluster.
func (r Resource) isKubernetes() bool { return strings.HasPrefix(r.Token, "kubernetes:") }

// Manifests are the objects of projects, in the order of the plan.
type Manifests struct {
	Projects []Project `json:"projects"`
	// Elsewhere are projects that make nothing in a cluster.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// Project is what one project makes in a cluster.
type Project struct {
	Name    string    `json:"project"`
	Folder  string    `json:"folder"`
	Objects []Object  `json:"objects"`
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// MadeUp are values that come from clouds, which a simulation has made up.
	MadeUp []MadeUp `json:"made_up,omitempty"`
	// Unsteady are objects of charts that are different each time they are rendered.
	Unsteady []string `json:"unsteady,omitempty"`
}

// Object is one object, and the file that it goes to.
type Object struct {
	File      string          `json:"file"` // in the project's folder
	Kind      string          `json:"kind"`
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name"`
	Content   manifest.Object `json:"object"`
}

// LeftOut is something that is not among the objects.
type LeftOut struct {
	What string   `json:"what"`
	Why  string   `json:"why"`
	Keys []string `json:"keys,omitempty"` // of a Secret
}

// Options say how manifests are made.
type Options struct {
	Charts mirror.Fetcher
	Order  []string // the projects of the whole plan, which number the folders
	Store  *Store   // has the values of Secrets; nil leaves them out
	Sealer *Sealer  // encrypts them; nil leaves them out
}

// Build makes the manifests of resources.
func Build(ctx context.Context, o Options, resources []Resource) (Manifests, error) {
	byProject := map[string][]Resource{}
	for _, r := range resources {
		byProject[r.Project] = append(byProject[r.Project], r)
	}
	projects := map[string]*builder{}
	scopes := scopes{}
	for name, own := range byProject {
		b := &builder{charts: o.Charts, store: o.Store, sealer: o.Sealer}
		for _, r := range own {
			if err := b.add(ctx, r); err != nil {
				return Manifests{}, fmt.Errorf("project %s: %w", name, err)
			}
		}
		for _, f := range b.found {
			scopes.learn(f.object)
		}
		projects[name] = b
	}
	var m Manifests
	for i, name := range o.Order {
		b := projects[name]
		switch {
		case b == nil:
		case len(b.found)+len(b.leftOut) == 0:
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
	namespace string // that it gets if it has none and its kind has namespaces
	release   bool
	readable  bool // a Secret with its values
}

// builder collects what one project makes.
type builder struct {
	charts   mirror.Fetcher
	store    *Store
	sealer   *Sealer
	found    []found
	leftOut  []LeftOut
	unsteady []string
}

func (b *builder) leave(what, why string) {
	b.leftOut = append(b.leftOut, LeftOut{What: what, Why: why})
}

// add takes a resource apart.
func (b *builder) add(ctx context.Context, r Resource) error {
	_, kind, _ := strings.Cut(strings.TrimPrefix(r.Token, "kubernetes:"), ":")
	switch {
	case !r.isKubernetes():
	case r.Token == mirror.ReleaseToken:
		return b.addRelease(ctx, r)
	case strings.HasSuffix(kind, "Patch"):
		b.leave(r.Token+" "+r.Name, "changes an object that something else makes")
	case strings.HasPrefix(r.Token, "kubernetes:helm.sh/"), strings.HasPrefix(r.Token, "kubernetes:yaml"),
		strings.HasPrefix(r.Token, "kubernetes:kustomize"):
		b.leave(r.Token+" "+r.Name, "is not an object, but makes some; they are not seen here")
	case b.sealer != nil && r.Values != nil:
		b.found = append(b.found, found{object: manifest.Of(r.Token, r.Values), namespace: cmp.Or(r.Namespace, "default"),
			readable: true})
	default:
		for _, object := range manifest.Of(r.Token, r.Inputs).Parts() {
			b.found = append(b.found, found{object: object, namespace: cmp.Or(r.Namespace, "default")})
		}
	}
	return nil
}

// addRelease renders the chart of a release.
func (b *builder) addRelease(ctx context.Context, r Resource) error {
	release := mirror.ReleaseOf(r.Project, r.Inputs)
	release.Namespace = cmp.Or(release.Namespace, r.Namespace, "default")
	what := "Helm release " + cmp.Or(release.Name, r.Name)
	if source := release.Chart + release.Version + release.Repository + release.Name +
		release.Namespace; strings.Contains(source, Unknown) {
		b.leave(what, "has a chart that is not known yet")
		return nil
	}
	if files, ok := r.Inputs["valueYamlFiles"].([]any); ok && len(files) > 0 {
		b.leave(what, "has values in files that only its program can read (valueYamlFiles)")
		return nil
	}
	archive, err := b.charts.Fetch(ctx, release.Source())
	if err != nil {
		return err
	}
	objects, err := mirror.Render(archive, release)
	if err != nil {
		return err
	}
	again, err := mirror.Render(archive, release)
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

// project puts the objects in order.
func (b *builder) project(name, folder string, scopes scopes) Project {
	p := Project{Name: name, Folder: folder, LeftOut: b.leftOut, Unsteady: b.unsteady, Objects: []Object{}}
	for _, f := range b.found {
		object := complete(f, scopes)
		if b.store != nil && isSecret(object) && !f.release && len(secretKeys(object)) > 0 {
			object = b.store.external(object) // those of charts are made by the charts
		}
		if b.sealer != nil && isSecret(object) {
			sealed, why := b.seal(f, object)
			if why != "" {
				p.LeftOut = append(p.LeftOut, LeftOut{What: object.String(), Why: "is a Secret, and " + why,
					Keys: secretKeys(object)})
				continue
			}
			object = sealed
		}
		if left, ok := unfit(object, f.release); ok {
			p.LeftOut = append(p.LeftOut, left)
			continue
		}
		p.Objects = append(p.Objects, Object{
			Kind: object.Text("kind"), Namespace: object.Text("metadata", "namespace"), Name: object.Text("metadata", "name"),
			Content: object,
		})
	}
	nameFiles(p.Objects)
	slices.SortFunc(p.Objects, func(a, b Object) int { return cmp.Compare(a.File, b.File) })
	slices.SortFunc(p.LeftOut, func(a, b LeftOut) int { return cmp.Compare(a.What, b.What) })
	slices.Sort(p.Unsteady)
	return p
}

// seal seals a Secret, or says why it cannot.
func (b *builder) seal(f found, secret manifest.Object) (manifest.Object, string) {
	switch {
	case f.release:
		return nil, "its chart makes it"
	case !f.readable:
		return nil, "its values come from other resources, which a simulation makes up"
	}
	sealed, err := b.sealer.sealed(secret)
	if err != nil {
		return nil, err.Error()
	}
	return sealed, ""
}

// unfit says why an object cannot be among the manifests.
func unfit(object manifest.Object, ofRelease bool) (LeftOut, bool) {
	what := object.String()
	hook := object.Text("metadata", "annotations", hookAnnotation)
	switch {
	case isSecret(object):
		return LeftOut{What: what, Why: "is a Secret", Keys: secretKeys(object)}, true
	case ofRelease && hook != "" && !slices.ContainsFunc(strings.Split(hook, ","), installs):
		return LeftOut{What: what, Why: "is a hook of Helm for " + hook + ", which nothing but Helm runs"}, true
	}
	for _, value := range []struct{ text, why string }{{Secret, "has a secret value"},
		{Unknown, "has a value that is not known yet"}} {
		if path := pathOf(object, value.text); path != "" {
			return LeftOut{What: what, Why: value.why + " in " + path}, true
		}
	}
	return LeftOut{}, false
}

// isSecret reports whether an object is a Secret of Kubernetes.
func isSecret(object manifest.Object) bool {
	return object.Text("kind") == "Secret" && object.Text("apiVersion") == "v1"
}

// secretKeys are the names of the values in a Secret.
func secretKeys(object manifest.Object) []string {
	var keys []string
	for _, field := range []string{"data", "stringData"} {
		if values, ok := object[field].(map[string]any); ok {
			keys = slices.AppendSeq(keys, maps.Keys(values))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(keys)))
}

// pathOf is where a text is among the fields of an object; "" where it is not.
func pathOf(object manifest.Object, text string) string {
	found := ""
	eachText(map[string]any(object), "", func(path, value string) {
		if found == "" && strings.Contains(value, text) {
			found = "." + path
		}
	})
	return found
}
