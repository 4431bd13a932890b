// Package projects is the catalogue of the Pulumi projects: what each one is
// called, where it lives, which configuration and secrets it reads and what it
// exports. It holds data only and imports no cloud SDK, so that planning,
// validating and documenting stay quick; the programs themselves live in the
// folders below and are reached through mara/projects/programs.
package projects

import (
	"slices"
	"time"

	"mara/config"
)

// Project describes one Pulumi project.
type Project struct {
	Name      string        // Pulumi project name, unique: "kind-cluster"
	Path      string        // folder below projects/: "infrastructure/kind/cluster"
	Title     string        // "Kind Cluster"
	Summary   string        // one line: what it deploys
	Namespace string        // Kubernetes namespace it deploys to; "" when it has none of its own
	Keys      []config.Key  // configuration keys that the program reads
	Secrets   []Secret      // secret values it needs, kept in the secrets project
	Outputs   []Output      // what it exports
	Hooks     []Hook        // what the runner does when it has succeeded
	Estimate  time.Duration // what a first deployment usually takes on a real cloud
	// LeavesCloudResources says that load balancers and volumes which the cluster
	// has made in its cloud stay when it is destroyed. The runner destroys it only
	// when there are none.
	LeavesCloudResources bool
}

// Hook names work that the runner does when a step has succeeded.
type Hook string

// HookKubeconfig merges the output "kubeconfig" into the user's kubeconfig.
const HookKubeconfig Hook = "kubeconfig"

// HookReachable waits until the output "application_url" answers.
const HookReachable Hook = "answers"

// OnDestroy reports whether a destroy runs the hook, too, to undo what it did.
func (h Hook) OnDestroy() bool { return h == HookKubeconfig }

// Secret describes a secret value. It lives encrypted in the stack file of the
// secrets project, and reaches its consumer through a Kubernetes Secret.
type Secret struct {
	Key       string    // "prometheus:admin_password" in config/pulumi/secrets/Pulumi.<stack>.yaml
	DataKey   string    // key of the consumer's Kubernetes Secret that holds the value; "" when it is only derived from
	Prompt    string    // the question asked when the value is missing
	Generate  Generator // how the runner makes a value when the user gives none
	MinLength int       // shortest value allowed; 0 means any that is not empty
	Default   string    // the value when nothing is given and nothing is generated
	Doc       string    // one line: what it is for
}

// Generator names a way to make a secret value.
type Generator string

// The generators of secret values.
const (
	None                 Generator = ""             // the user has to give it
	Password             Generator = "password"     // letters, digits and special characters
	AlphanumericPassword Generator = "alphanumeric" // letters and digits: safe inside a URL
	RSAKey               Generator = "rsa-key"      // RSA private key, PEM
)

// Output describes one stack output.
type Output struct {
	Name      string
	Secret    bool
	Highlight bool // shown at the end of a successful up: what a user goes on with
	Doc       string
}

// All lists every project, grouped and in a stable order.
func All() []Project {
	var own []Project
	for _, infrastructure := range Infrastructures() {
		own = append(own, infrastructure.Projects()...)
	}
	return slices.Concat(own, utilityProjects(), kubernetesProjects())
}

// ByName finds a project by its Pulumi name.
func ByName(name string) (Project, bool) {
	for _, project := range All() {
		if project.Name == name {
			return project, true
		}
	}
	return Project{}, false
}

// Key finds a declared configuration key by its full name.
func (p Project) Key(name string) (config.Key, bool) {
	for _, key := range p.Keys {
		if key.Name == name {
			return key, true
		}
	}
	return config.Key{}, false
}

// Output finds a declared output by its name.
func (p Project) Output(name string) (Output, bool) {
	for _, output := range p.Outputs {
		if output.Name == name {
			return output, true
		}
	}
	return Output{}, false
}
