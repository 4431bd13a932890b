// Package pko works with the Pulumi Kubernetes Operator, 2.9: it exports Stacks that run
// an environment, reports their states, and deletes them in order, which the operator
// does not.
//
// The operator's own Go types link controller-runtime and all of Kubernetes' API; this
// package declares the few fields it uses. Tests validate the exported objects against
// the operator's definitions.
package pko

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
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
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
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
	SecretsRef         map[string]Ref `json:"secretsRef,omitempty"`
	EnvRefs            map[string]Ref `json:"envRefs,omitempty"`

	ProjectRepo string       `json:"projectRepo,omitempty"`
	GitAuth     *GitAuth     `json:"gitAuth,omitempty"`
	Branch      string       `json:"branch,omitempty"`
	Commit      string       `json:"commit,omitempty"`
	RepoDir     string       `json:"repoDir,omitempty"`
	Shallow     bool         `json:"shallow,omitempty"`
	FluxSource  *FluxSource  `json:"fluxSource,omitempty"`
	ProgramRef  *Name        `json:"programRef,omitempty"`
	Needs       []NeededName `json:"prerequisites,omitempty"`

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

// Ref is a value of a variable or of the configuration.
type Ref struct {
	Type    string     `json:"type"` // Secret or Literal
	Secret  *SecretKey `json:"secret,omitempty"`
	Literal *Literal   `json:"literal,omitempty"`
}

// SecretKey is a value in a Secret.
type SecretKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Literal is a value that is no secret.
type Literal struct {
	Value string `json:"value"`
}

// GitAuth says how to log in to a repository: with a token, or with a key.
type GitAuth struct {
	AccessToken *Ref     `json:"accessToken,omitempty"`
	SSHAuth     *SSHAuth `json:"sshAuth,omitempty"`
}

// SSHAuth is a private key without a passphrase.
type SSHAuth struct {
	SSHPrivateKey Ref `json:"sshPrivateKey"`
}

// FluxSource is an object of Flux that has the program.
type FluxSource struct {
	SourceRef SourceRef `json:"sourceRef"`
	Dir       string    `json:"dir,omitempty"`
}

// SourceRef names an object of Flux.
type SourceRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// Name names an object in the same namespace.
type Name struct {
	Name string `json:"name"`
}

// NeededName is a Stack that has to have succeeded before.
type NeededName struct {
	Name        string      `json:"name"`
	Requirement Requirement `json:"requirement"`
}

// Requirement says how long ago at most.
type Requirement struct {
	SucceededWithinDuration string `json:"succeededWithinDuration"`
}

// Within returns the duration, or 0 for any.
func (r Requirement) Within() time.Duration {
	within, _ := time.ParseDuration(r.SucceededWithinDuration) // without one, any
	return within
}

// Template is laid over what the operator makes of a Stack.
type Template struct {
	Spec map[string]any `json:"spec"`
}
