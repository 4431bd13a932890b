// Package projects is the catalogue of the Pulumi projects: what each one is
// called, where it lives, which configuration and secrets it reads and what it
// exports. It holds data only and imports no cloud SDK, so that planning,
// validating and documenting stay quick; the programs themselves live in the
// folders below and are reached through mara/projects/programs.
package projects

import (
	"path"
	"slices"
	"strings"
	"time"

	"mara/config"
)

// Runtime is the runtime that the Pulumi.yaml of every project here names: it is
// served by the command below pulumi-language-mara.
const Runtime = "mara"

// Project describes one Pulumi project.
type Project struct {
	Name      string        // Pulumi project name, unique: "kind-cluster"
	Path      string        // folder below projects/: "infrastructure/kind/cluster"; of an own project below the root
	Title     string        // "Kind Cluster"
	Summary   string        // one line: what it deploys
	Namespace string        // Kubernetes namespace it deploys to; "" when it has none of its own
	Keys      []config.Key  // configuration keys that the program reads
	Secrets   []Secret      // secret values it needs, kept in the secrets project
	Outputs   []Output      // what it exports
	Hooks     []Hook        // work around its steps
	Estimate  time.Duration // what a first deployment usually takes on a real cloud
	// LeavesCloudResources says that load balancers and volumes that the cluster has
	// created in its cloud survive its destruction. The runner destroys the cluster
	// only if there are none.
	LeavesCloudResources bool
	// Settled lists data sources and types of resources of the cloud whose answers
	// depend on the configuration alone, or are changed by this project alone. A
	// project that reads any others runs every time.
	Settled []string
	Own     *Own // only for projects of the user
}

// Own is what mara.yaml says about a project of the user.
type Own struct {
	Dir     string        // its folder, absolute
	Path    string        // the same as mara.yaml has it
	Runtime string        // of its Pulumi.yaml
	Built   bool          // the runtime runs a binary that is built already
	When    string        // jq; "" for always
	Timeout time.Duration // 0 for none of its own
	// StackFiles has its own stack files, one for each stack, over the shared ones:
	// the folder that they are in. "" where there is only the shared one.
	StackFiles string
	Git, Ref   string // the repository and the revision that it is from; "" for a folder below the root
	Stack      string // pattern of the names of its stacks; "" for that of the environment
	Line       int    // in mara.yaml
}

// Folder returns the project's folder below the root, as it is shown.
func (p Project) Folder() string {
	if p.Own != nil {
		return p.Path
	}
	return "projects/" + p.Path
}

// Secret describes a secret value. It lives encrypted in the stack file of the
// secrets project, and reaches its consumer through a Kubernetes Secret.
type Secret struct {
	Key       string    // "prometheus:admin_password" in config/pulumi/secrets/Pulumi.<stack>.yaml
	DataKey   string    // key of the consumer's Kubernetes Secret that holds the value; "" when it is only derived from
	Prompt    string    // the question asked when the value is missing
	Generate  Generator // how the runner makes a value when the user gives none
	MinLength int       // shortest value allowed; 0 means any that is not empty
	Default   string    // the value when nothing is given and nothing is generated
	Own       bool      // of an own project, which reads it from its configuration
	Optional  bool      // the program does without a value
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
	for _, i := range Infrastructures() {
		own = append(own, i.Projects()...)
	}
	return slices.Concat(own, utilityProjects(), kubernetesProjects())
}

// ByName finds a project by its Pulumi name.
func ByName(name string) (Project, bool) {
	return Find(All(), func(p Project) bool { return p.Name == name })
}

// Find returns the first element for which match is true.
func Find[T any](all []T, match func(T) bool) (found T, ok bool) {
	i := slices.IndexFunc(all, match)
	if i < 0 {
		return found, false
	}
	return all[i], true
}

// Resolve returns the name of the project that a word names: by its name, or else by its title or its directory,
// in upper or lower case. Several projects that share a title or directory are all returned, and none for an unknown word.
func Resolve(all []Project, word string) []string {
	if _, ok := Find(all, func(p Project) bool { return p.Name == word }); ok {
		return []string{word}
	}
	var names []string
	for _, p := range all {
		isNamed := slices.ContainsFunc([]string{p.Name, p.Title}, func(name string) bool { return strings.EqualFold(name, word) })
		if isNamed || p.Path != "" && path.Clean(p.Path) == path.Clean(word) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Key finds a declared configuration key by its full name.
func (p Project) Key(name string) (config.Key, bool) {
	return Find(p.Keys, func(key config.Key) bool { return key.Name == name })
}

// Output finds a declared output by its name.
func (p Project) Output(name string) (Output, bool) {
	return Find(p.Outputs, func(output Output) bool { return output.Name == name })
}

// SecretsOf returns the secrets of projects, each once.
func SecretsOf(all []Project) []Secret {
	var secrets []Secret
	for _, project := range all {
		for _, secret := range project.Secrets {
			if !slices.ContainsFunc(secrets, func(s Secret) bool { return s.Key == secret.Key }) {
				secrets = append(secrets, secret)
			}
		}
	}
	return secrets
}
