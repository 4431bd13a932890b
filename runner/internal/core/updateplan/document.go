// Package updateplan defines the document of what an up would do: every step of every
// project in a preview. Policies check it, the cost estimate adds it up, and an up can be
// limited to it.
package updateplan

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/config/files"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/atomicfile"
)

// Version changes when a field changes its meaning or is removed.
const Version = 1

// Document is what an up of an environment would do.
type Document struct {
	Version   int       `json:"version"`
	Created   time.Time `json:"created"`
	Runner    string    `json:"runner"` // its version
	Provider  string    `json:"provider"`
	Stack     string    `json:"stack"`
	Simulated bool      `json:"simulated"`
	// Configuration has digests of the configuration that the preview ran with.
	Configuration map[string]string `json:"configuration,omitempty"`
	Projects      []Project         `json:"projects"`
	// Digest is the digest of the file from which the document was read.
	Digest string `json:"-"`
}

// Project is what an up of one project would do.
type Project struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Steps []Step `json:"steps"`
	// Unknown are the projects whose outputs are unknown. The steps are computed without
	// them.
	Unknown []string `json:"unknown,omitempty"`
	// Outputs are the outputs of its stack that would change.
	Outputs []event.OutputChange `json:"outputs"`
	// Fingerprint has digests of its program, its configuration and its secrets. It is
	// nil for a project that has none.
	Fingerprint map[string]string `json:"fingerprint,omitempty"`
	// State is a digest of the state that the preview ran against.
	State string `json:"state,omitempty"`
}

// Step is what would happen to one resource. Secret values read "[secret]", and unknown
// values "[unknown]".
type Step struct {
	Op   string `json:"op"` // create, update, replace, delete, same, read or import
	Type string `json:"type"`
	Name string `json:"name"`
	URN  string `json:"urn"`
	ID   string `json:"id,omitempty"`
	// Region is the region of its provider, if it has one.
	Region string `json:"region,omitempty"`
	// Inputs are the planned inputs of the resource; Old are the current ones.
	Inputs map[string]any `json:"inputs,omitempty"`
	Old    map[string]any `json:"old,omitempty"`
	// Properties are the paths of changed values, Replaces the paths that force a
	// replacement, Unknown the paths of unknown values.
	Properties []string `json:"properties,omitempty"`
	Replaces   []string `json:"replaces,omitempty"`
	Unknown    []string `json:"unknown,omitempty"`
	// Stateful resources lose data when they are deleted or replaced.
	Stateful bool `json:"stateful"`
	// Protected resources cannot be deleted.
	Protected bool `json:"protected,omitempty"`
	// IsComponent means that the resource only groups other resources, which have steps.
	IsComponent bool `json:"-"`
}

// Unknown is the placeholder for an unknown value.
const Unknown = event.Unknown

// unknownValue is the placeholder of Pulumi's engine.
const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// NewStep converts an event of Pulumi's engine; mask hides secrets in strings. ok is false
// for the halves of a replacement, which itself is a step, and for stacks, providers and
// references.
func NewStep(m apitype.StepEventMetadata, mask func(string) string) (step Step, ok bool) {
	op, ok := ops[m.Op]
	if !ok || isBookkeeping(m.Type) {
		return Step{}, false
	}
	step = Step{
		Op: op, Type: m.Type, Name: mask(m.URN[strings.LastIndex(m.URN, "::")+len("::"):]), URN: mask(m.URN),
		Stateful: IsStateful(m.Type), Replaces: m.Keys,
	}
	if m.Old != nil {
		step.ID, step.Protected, step.IsComponent = mask(m.Old.ID), m.Old.Protect, !m.Old.Custom
		step.Old = reader{mask: mask}.properties(m.Old.Inputs, "")
	}
	if m.New != nil && op != "delete" {
		r := reader{mask: mask, unknown: &step.Unknown}
		step.Inputs = r.properties(m.New.Inputs, "")
		step.Protected = step.Protected || m.New.Protect
	}
	return step, true
}

// FoundStep converts an event of a refresh: it compares the outputs that the state has with what really exists.
func FoundStep(m apitype.StepEventMetadata, mask func(string) string) (step Step, ok bool) {
	for _, side := range []**apitype.StepEventStateMetadata{&m.Old, &m.New} {
		if *side != nil {
			seen := **side
			seen.Inputs = seen.Outputs
			*side = &seen
		}
	}
	return NewStep(m, mask)
}

// isBookkeeping reports whether a type is internal to the engine: stacks, references and
// providers. A pulumi:index:Stash is the user's.
func isBookkeeping(kind string) bool {
	return strings.HasPrefix(kind, "pulumi:pulumi:") || strings.HasPrefix(kind, "pulumi:providers:")
}

// ops are the operations of Pulumi's engine that are steps.
var ops = map[apitype.OpType]string{
	apitype.OpCreate: "create", apitype.OpUpdate: "update", apitype.OpReplace: "replace", apitype.OpDelete: "delete",
	apitype.OpSame: "same", apitype.OpRead: "read", apitype.OpImport: "import", apitype.OpImportReplacement: "import",
}

// Text returns a string of the engine, or Unknown for an unknown one.
func Text(text string) string {
	if strings.Contains(text, unknownValue) {
		return Unknown
	}
	return text
}

// reader copies properties. It masks secrets and replaces unknown values by Unknown.
type reader struct {
	mask    func(string) string
	unknown *[]string // collects the paths of unknown values; may be nil
}

func (r reader) properties(properties map[string]any, path string) map[string]any {
	if properties == nil {
		return nil
	}
	copied := make(map[string]any, len(properties))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		key := r.mask(name)
		copied[key] = r.value(properties[name], strings.TrimPrefix(path+"."+key, "."))
	}
	return copied
}

func (r reader) value(value any, path string) any {
	switch value := value.(type) {
	case string:
		if !strings.Contains(value, unknownValue) {
			return r.mask(value)
		}
		if r.unknown != nil {
			*r.unknown = append(*r.unknown, path)
		}
		return Unknown
	case map[string]any:
		if isSecret(value) {
			return event.Masked
		}
		return r.properties(value, path)
	case []any:
		copied := make([]any, len(value))
		for i, element := range value {
			copied[i] = r.value(element, fmt.Sprintf("%s[%d]", path, i))
		}
		return copied
	}
	return value
}

// Write writes the document to a file with mode 0600, and returns its digest.
func (d Document) Write(file string) (digest string, err error) {
	content, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return "", err
	}
	content = append(content, '\n')
	return digestOf(content), atomicfile.Write(file, content, 0o600)
}

// digestOf returns the digest of a file, which an approval can name.
func digestOf(content []byte) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(content))
}

// Read reads a document.
func Read(file string) (Document, error) {
	var d Document
	content, err := files.Read(file, files.Data)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(content, &d); err != nil || d.Version == 0 {
		return d, fmt.Errorf("%s is not a plan of `runner preview --save-plan FILE`", file)
	}
	if d.Version != Version {
		return d, fmt.Errorf("%s has version %d of the format; this runner reads version %d", file, d.Version, Version)
	}
	d.Digest = digestOf(content)
	return d, nil
}

// Value returns the document as jq input.
func (d Document) Value() (any, error) {
	content, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var value any
	err = json.Unmarshal(content, &value)
	return value, err
}
