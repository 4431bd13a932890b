package stacks

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
)

// Snapshot is what the state of a project's stack says without a key.
type Snapshot struct {
	// Uncounted is the number of resources that Pulumi's list of stacks counts and an operation does not: resources
	// that are only read, and default providers.
	Uncounted int
	Pending   []Pending
	outputs   map[string]value
	read      map[string]map[string]value // by project: the outputs it had when this one was deployed
}

// value is an output in the state.
type value = json.RawMessage

// Stale says why a project may have to be deployed again: outputs that it has
// read have changed since.
type Stale struct {
	Project string   `json:"project"` // whose outputs they are
	Outputs []string `json:"outputs"`
}

// String names the project and its outputs.
func (s Stale) String() string { return s.Project + " changed " + strings.Join(s.Outputs, ", ") }

// Snapshot reads the state of a project's stack.
func (e *Set) Snapshot(ctx context.Context, project string) (Snapshot, error) {
	state, err := e.state(ctx, project)
	if err != nil {
		return Snapshot{}, err
	}
	snapshot := Snapshot{Pending: state.pending(project), read: map[string]map[string]value{}}
	for _, r := range state.Resources {
		if r.External || IsDefaultProvider(r.URN) {
			snapshot.Uncounted++
		}
		switch r.Type {
		case stackType:
			snapshot.outputs = r.Outputs
		case referenceType:
			if read, ok := e.ProjectOf(r.ID); ok {
				snapshot.read[read] = referenced(r.Outputs)
			}
		}
	}
	return snapshot, nil
}

// IsDefaultProvider reports whether Pulumi has made a resource by itself, to work with a package. Operations do not count it.
func IsDefaultProvider(urn string) bool {
	resource := resourceOf(urn)
	return strings.HasPrefix(resource.Type, "pulumi:providers:") && strings.HasPrefix(resource.Name, "default")
}

// referenced returns the outputs of another stack, as a reference to it has them.
func referenced(reference map[string]value) map[string]value {
	var outputs map[string]value
	if err := json.Unmarshal(reference["outputs"], &outputs); err != nil {
		return nil // all of it is secret
	}
	return outputs
}

// StaleAgainst compares the outputs that a project has read with those the others
// have now. A secret output cannot be compared without a key; as long as it
// exists it counts as unchanged.
func (s Snapshot) StaleAgainst(now map[string]Snapshot) []Stale {
	var stale []Stale
	for _, project := range slices.Sorted(maps.Keys(s.read)) {
		current, known := now[project]
		if !known || current.outputs == nil {
			continue // its own line says that it is gone
		}
		found := Stale{Project: project}
		for name, before := range s.read[project] {
			after, there := current.outputs[name]
			if !there || !isCiphertext(before) && !isCiphertext(after) && !equal(before, after) {
				found.Outputs = append(found.Outputs, name)
			}
		}
		if len(found.Outputs) > 0 {
			slices.Sort(found.Outputs)
			stale = append(stale, found)
		}
	}
	return stale
}

// isCiphertext finds a secret anywhere in a value.
func isCiphertext(v value) bool { return strings.Contains(string(v), `"`+sig.Key+`"`) }

// equal compares values, not their text.
func equal(a, b value) bool {
	var left, right any
	return json.Unmarshal(a, &left) == nil && json.Unmarshal(b, &right) == nil && reflect.DeepEqual(left, right)
}

// Release is a Helm release in a cluster.
type Release struct{ Namespace, Name string }

// releaseType is the type of Helm releases.
const releaseType = "kubernetes:helm.sh/v3:Release"

// Releases lists the Helm releases in the state of a project's stack. Their ids
// are namespace and name.
func (e *Set) Releases(ctx context.Context, project string) ([]Release, error) {
	state, err := e.state(ctx, project)
	if err != nil {
		return nil, err
	}
	var releases []Release
	for _, r := range state.Resources {
		if namespace, name, ok := strings.Cut(r.ID, "/"); ok && r.Type == releaseType {
			releases = append(releases, Release{Namespace: namespace, Name: name})
		}
	}
	return releases, nil
}
