package model

import (
	"path"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/lists"
)

// Project describes one Pulumi project.
type Project struct {
	Name      string        // Pulumi project name, unique: "kind-cluster"
	Path      string        // directory below projects/: "infrastructure/kind/cluster"; of an own project below the root
	Title     string        // "Kind Cluster"
	Summary   string        // one line: what it deploys
	AlsoNamed []string      // what people call the software that it deploys, in small letters and digits
	Namespace string        // Kubernetes namespace it deploys to; "" when it has none of its own
	Keys      []config.Key  // configuration keys that the program reads
	Rules     []config.Rule // over the values of several keys, or more than a key can declare
	Charts    []Chart       // Helm charts that its program releases
	Volumes   *Volumes      // in its namespace; nil if it has none
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
	// Versions are the versions of Kubernetes that its program sets, in the order in which they are upgraded.
	Versions []Version
	// Needs says what an optional project needs; "" for a project that is part of every plan.
	Needs        string
	Applications Turn
	Own          *Own // only for projects of the user
}

// Turn is the order of a project and the applications in mara.yaml.
type Turn int

// The orders.
const (
	AnyTurn  Turn = iota
	TheyWait      // applications wait for it
	ItWaits       // it waits for applications, but for those that wait for it
)

// Own is what mara.yaml says about a project of the user.
type Own struct {
	Dir      string        // its directory, absolute
	Path     string        // the same as mara.yaml has it
	Runtime  string        // of its Pulumi.yaml
	Built    bool          // the runtime runs a binary that is built already
	When     string        // jq; "" for always
	WhenLine int           // of When in mara.yaml
	Timeout  time.Duration // 0 for none of its own
	// StackFiles has its own stack files, one for each stack, over the shared ones:
	// the directory that they are in. "" where there is only the shared one.
	StackFiles string
	Generated  bool                  // the runner has written its program, for an application in mara.yaml
	Git, Ref   string                // the repository and the revision that it is from; "" for a directory below the root
	Stack      string                // pattern of the names of its stacks; "" for that of the environment
	Line       int                   // in mara.yaml
	Env        []config.MaraVariable // of its programs, plugins and hooks, as mara.yaml has it
	Retry      *int                  // attempts after a transient error; nil for the flag's
	// Broken is what is wrong with its Pulumi.yaml: it can be looked at, but not run.
	Broken []config.Problem
	// Backend is the location of its states that mara.yaml or its Pulumi.yaml names for it; it is not set without one. A
	// directory is absolute.
	Backend config.Value
	// Inputs are files and directories below the root, or patterns for them, that the program consists of besides its
	// own directory; nil if that is not declared.
	Inputs []string
	Access []Access // to the API server, which the program of an application needs
}

// Environ returns the environment variables of a project in an environment.
func (p Project) Environ(environment string) map[string]string {
	if p.Own == nil || len(p.Own.Env) == 0 {
		return nil
	}
	values := map[string]string{}
	for _, v := range p.Own.Env {
		value, ok := v.Of[environment]
		if !ok && v.Default != nil {
			value, ok = *v.Default, true
		}
		if ok {
			values[v.Name.Text] = strings.ReplaceAll(value, StackPlaceholder, environment)
		}
	}
	return values
}

// Directory returns the project's directory below the root, as it is shown.
func (p Project) Directory() string {
	if p.Own != nil {
		return p.Path
	}
	return "projects/" + p.Path
}

// Output describes one stack output.
type Output struct {
	Name      string
	Secret    bool
	Optional  bool // not always exported
	Highlight bool // shown at the end of a successful up: what a user goes on with
	Doc       string
	Line      int // in mara.yaml, which names it; 0 for others
}

// IsApplication reports whether the runner writes the program, from an application in mara.yaml.
func (p Project) IsApplication() bool { return p.Own != nil && p.Own.Generated }

// Key finds a declared configuration key by its full name.
func (p Project) Key(name string) (config.Key, bool) {
	return lists.Find(p.Keys, func(key config.Key) bool { return key.Name == name })
}

// Output finds a declared output by its name.
func (p Project) Output(name string) (Output, bool) {
	return lists.Find(p.Outputs, func(output Output) bool { return output.Name == name })
}

// HasHook reports whether a project has a hook of a name.
func (p Project) HasHook(name string) bool {
	return slices.ContainsFunc(p.Hooks, func(h Hook) bool { return h.Name == name })
}

// Version is a version of Kubernetes that a project's program sets.
type Version struct {
	What     string // "control plane"
	Key      string // of the configuration
	Follows  string // the key whose value counts while Key is not set; "" for the key's default
	Type     string // the resources whose state says what runs
	Property string // of these resources' outputs
	Note     string // what to know before an upgrade; "" for nothing
}

// Volumes says how the volumes of a project are to be. They get bigger where the StorageClass allows it.
type Volumes struct {
	Key         string // of the configuration, which has their size; "" where Size has it
	Size, Class string // of an application
}

// Chart is a Helm chart that a project's program releases.
type Chart struct {
	Group string // its keys begin so: "certmgr" or "logstore:dashboards"
	Name  string // in its repository
}

// Resolve returns the name of the project that a word names: by its name, or else by its title or its directory,
// in upper or lower case. Several projects that share a title or directory are all returned, and none for an unknown
// word.
func Resolve(all []Project, word string) []string {
	if _, ok := lists.Find(all, func(p Project) bool { return p.Name == word }); ok {
		return []string{word}
	}
	var names []string
	for _, p := range all {
		isNamed := slices.ContainsFunc([]string{p.Name, p.Title}, func(name string) bool {
			return strings.EqualFold(name, word)
		})
		if isNamed || p.Path != "" && path.Clean(p.Path) == path.Clean(word) {
			names = append(names, p.Name)
		}
	}
	return names
}
