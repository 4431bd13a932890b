// Package operator works with the Pulumi Kubernetes Operator, 2.9: it exports Stacks that run
// an environment, reports their states, and deletes them in order, which the operator
// does not.
//
// The operator's own Go types link controller-runtime and all of Kubernetes' API; this
// package declares the few fields it uses. Tests validate the exported objects against
// the operator's definitions.
package operator

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"mara/config/files"
)

// StackResource is how the API serves Stacks.
var StackResource = schema.GroupVersionResource{Group: "pulumi.com", Version: "v1", Resource: "stacks"}

// The labels of everything that is written for an environment.
const (
	ManagedLabel = "app.kubernetes.io/managed-by"
	StackLabel   = "mara.dev/stack"
	ProjectLabel = "mara.dev/project"
	manager      = "mara"
)

// requestAnnotation asks the operator to run a Stack once more.
const requestAnnotation = "pulumi.com/reconciliation-request"

// Metadata names an object.
type Metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// Stack is what the operator runs for one project.
type Stack struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   Metadata  `json:"metadata"`
	Spec       StackSpec `json:"spec"`
}

// StackSpec has the fields of a Stack that are used here.
type StackSpec struct {
	Stack              string         `json:"stack"`
	Backend            string         `json:"backend,omitempty"`
	ServiceAccountName string         `json:"serviceAccountName,omitempty"`
	SecretsProvider    string         `json:"secretsProvider,omitempty"`
	Config             map[string]any `json:"config,omitempty"`
	SecretsRef         map[string]any `json:"secretsRef,omitempty"`
	EnvRefs            map[string]any `json:"envRefs,omitempty"`

	ProjectRepo string         `json:"projectRepo,omitempty"`
	GitAuth     map[string]any `json:"gitAuth,omitempty"`
	Branch      string         `json:"branch,omitempty"`
	Commit      string         `json:"commit,omitempty"`
	RepoDir     string         `json:"repoDir,omitempty"`
	Shallow     bool           `json:"shallow,omitempty"`
	FluxSource  map[string]any `json:"fluxSource,omitempty"`
	ProgramRef  map[string]any `json:"programRef,omitempty"`
	Needs       []Need         `json:"prerequisites,omitempty"`

	Preview                     bool   `json:"preview,omitempty"`
	Refresh                     bool   `json:"refresh,omitempty"`
	DestroyOnFinalize           bool   `json:"destroyOnFinalize,omitempty"`
	RunProgram                  bool   `json:"runProgram,omitempty"`
	RetryOnUpdateConflict       bool   `json:"retryOnUpdateConflict,omitempty"`
	ContinueResyncOnCommitMatch bool   `json:"continueResyncOnCommitMatch,omitempty"`
	ResyncFrequencySeconds      int64  `json:"resyncFrequencySeconds,omitempty"`
	WorkspaceReclaimPolicy      string `json:"workspaceReclaimPolicy,omitempty"`

	WorkspaceTemplate *Template `json:"workspaceTemplate,omitempty"`
	UpdateTemplate    *Template `json:"updateTemplate,omitempty"`
}

// secretRef refers to a value in a Secret.
func secretRef(name, key string) map[string]any {
	return map[string]any{"type": "Secret", "secret": map[string]any{"name": name, "key": key}}
}

// SourceRef names an object of Flux.
type SourceRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// Need is a Stack that has to have succeeded before.
type Need struct {
	Name        string `json:"name"`
	Requirement struct {
		SucceededWithinDuration string `json:"succeededWithinDuration"`
	} `json:"requirement"`
}

// Template is laid over what the operator makes of a Stack.
type Template struct {
	Spec map[string]any `json:"spec"`
}

// ReadProgram reads a project in Pulumi YAML as the content of a Program. The error names
// what a Program cannot contain. The secret values of an application come from Secrets alone, and so are secret
// although a Program cannot declare it: it takes secrets.
func ReadProgram(dir string, takesSecrets bool) (map[string]any, error) {
	program := map[string]any{}
	for _, file := range []string{"Pulumi.yaml", "Main.yaml"} {
		content, err := files.Read(filepath.Join(dir, file), files.Text)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var document map[string]any
		if err := yaml.Unmarshal(content, &document); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, key := range slices.Sorted(maps.Keys(document)) {
			if err := take(program, key, document[key], takesSecrets); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return program, nil
}

// take copies a section to a program.
func take(program map[string]any, key string, value any, takesSecrets bool) error {
	switch key {
	case "name", "runtime", "description", "author", "license", "website", "stackConfigDir", "template":
		return nil
	case "resources", "variables", "outputs", "packages":
		program[key] = value
		return nil
	case "config", "configuration":
		configuration, err := configurationOf(value, takesSecrets)
		if len(configuration) > 0 {
			program["configuration"] = configuration
		}
		return err
	}
	return fmt.Errorf("a Program has no %s", key)
}

// configurationOf converts declarations of configuration. The operator has fewer types.
func configurationOf(value any, takesSecrets bool) (map[string]any, error) {
	declared, _ := value.(map[string]any)
	types := map[string]string{"": "String", "string": "String", "integer": "Number", "number": "Number",
		"String": "String", "Number": "Number"}
	configuration := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		one, _ := declared[name].(map[string]any)
		kind, _ := one["type"].(string)
		translated, ok := types[kind]
		if !ok {
			return nil, fmt.Errorf("the configuration %s has the type %s, which a Program cannot declare", name, kind)
		}
		if one["secret"] == true && !takesSecrets {
			return nil, fmt.Errorf("the configuration %s is secret, which a Program cannot declare", name)
		}
		entry := map[string]any{"type": translated}
		if standard, ok := one["default"]; ok {
			entry["default"] = standard
		}
		_, short, _ := strings.Cut(name, ":") // without the project's name, if it has one
		configuration[cmp.Or(short, name)] = entry
	}
	return configuration, nil
}
