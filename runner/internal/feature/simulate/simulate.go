// Package simulate serves stand-ins for cloud providers to Pulumi's engine.
//
// A Package describes a provider by its Pulumi package schema. From that come
// the rules (what inputs exist, which are required, of what type) and the shape
// of the outputs; what a schema does not tell, such as the format of an id, is
// declared beside it. Start serves the packages over gRPC on 127.0.0.1, and
// the engine attaches to them with the environment that Clouds.Env returns.
//
// The stand-ins remember what exists, so that refresh, drift and destroy mean
// something, but never any property: a record holds a type, an id, the URN
// that made it, and the names of what it needs and provides.
//
// Everything is deterministic: outputs follow from types, URNs and ids alone.
package simulate

import (
	"fmt"
	"log/slog"
	"time"
)

// Epoch is the moment at which everything simulated was created. It is fixed,
// because outputs must not depend on the clock.
const Epoch = "2026-01-01T00:00:00Z"

// Package describes one provider.
type Package struct {
	Name string // "aws"

	// Schemas are Pulumi's schemas of the package; the first that has a type
	// describes it, and the largest is shown to programs. Where there is none, nothing is checked.
	Schemas [][]byte

	// Resources and Invokes are what is known beyond the schemas.
	Resources []Resource
	Invokes   []Invoke

	// Dynamic describes a type that Resources does not list, such as a custom
	// kind of Kubernetes; nil means that there are none.
	Dynamic func(token string) (Resource, bool)

	// Defaults are outputs that many of the package's types share. They fill
	// keys that a type has and its inputs leave open. Nil means none.
	Defaults func(Object) map[string]any

	// Words are what the cloud says in each of FaultKinds, by name; the first that fits counts.
	Words map[string][]Words

	// Scope tells from its configuration what a provider talks to; nil means
	// that all providers of the package share one account. Function facts lists the
	// facts that hold and begin with a prefix.
	Scope func(config map[string]any, facts func(prefix string) []string) (Scope, error)

	// TakesNumber reports whether a number may stand for a string at a path, such as an amount of Kubernetes; nil means nowhere.
	TakesNumber func(path string) bool

	// Native are the types of a package bridged from Terraform whose code is Pulumi's own: they take no number for a string.
	Native []string

	// Partial says that the first of Schemas has only a part of the package's types.
	Partial bool

	// Children returns what a component makes, as far as its inputs say it; nil, or false, if only its program knows.
	Children func(o Object) (children []Child, ok bool)

	// OpenConfig says that the provider ignores settings that it does not know.
	OpenConfig bool

	// TakesUnknown says that types and functions which no schema has are answered without checks: their inputs are their
	// outputs. Shown is the schema that programs in YAML then see; nil stands for the largest of Schemas.
	TakesUnknown bool
	Shown        []byte
}

// IsPartial reports whether no schema has all types of the package.
func (p Package) IsPartial() bool { return p.Partial && len(p.Schemas) == 1 }

// WaysToSchema says how to provide the schema of a package.
func WaysToSchema(pkg string) string {
	return fmt.Sprintf("the schema of %[1]s is not at hand; three ways to have it: install its plugin "+
		"(`pulumi plugin install resource %[1]s`), or name a file with --simulate-schema (`pulumi package get-schema %[1]s` prints it), or name "+
		"the plugin's directory in Pulumi.yaml (plugins: providers: [{name: %[1]s, path: DIR}])", pkg)
}

// Scope is the part of the clouds that one configured provider reaches, such
// as one Kubernetes cluster.
type Scope struct {
	Name        string // keeps the records of different scopes apart
	Identity    string // decides, where it was and is set, whether it is the same scope; "" if the configuration has none
	Needs       string // fact that holds while the scope is reachable; empty means always
	Unreachable string // error while it is not
	Forgiving   bool   // what cannot be reached counts as deleted
}

// Child is a resource that a component makes.
type Child struct {
	Token, Name string
	Inputs      map[string]any
}

// Resource is how one resource type behaves.
type Resource struct {
	Token string // "aws:ec2/vpc:Vpc"

	// Like is the type whose inputs and outputs it has, beside any others; ""
	// for a type that has a schema of its own.
	Like string

	Latency Latency

	// ID makes the id. One that ignores the object's generated digits makes
	// the resource unique by name: a second one "already exists", and a
	// replacement deletes first.
	ID func(Object) string

	// Defaults are outputs where the inputs leave them open.
	Defaults map[string]any

	// Outputs are laid over inputs and generated values; a nil value removes
	// a key. Nil means that the generated ones will do.
	Outputs func(Object) map[string]any

	// Check finds what types alone cannot tell; nil means nothing.
	Check func(Object) []Problem

	// Refuses returns the cloud's error for a change that it refuses, or "". Nil allows all changes.
	Refuses func(before, after Object) string

	// Renews returns the inputs whose change replaces the resource in this case only, such as a
	// version that goes down. Nil means none.
	Renews func(before, after Object) []string

	// Links names what the resource needs to exist, and what needs it.
	Links func(Object) Links

	// Implied is the fact under which an object exists that no program made,
	// such as a Service of a chart; nil means that there are no such objects.
	Implied func(Object) string

	// Reread is laid over the outputs of an implied object when it is read
	// again, as a refresh does; nil means that nothing changes.
	Reread map[string]any

	ReplaceOn []string // inputs, or paths into them, whose change replaces, beyond those of the schema
	AutoName  string   // path of the input that gets a generated name when it is missing
}

// Latency is how long operations take in reality.
type Latency struct {
	Create, Update, Delete time.Duration
}

// Links are the facts that tie resources together.
type Links struct {
	Provides []Fact
	Requires []Requirement

	// Remember are names of parts, never their values, that a program which
	// reads the resource without having made it should find again.
	Remember []string
}

// Fact is something that is true as long as the resource exists.
type Fact struct {
	Name string
	// InUse refuses a deletion while other resources require the fact. When
	// it is empty they vanish together with it.
	InUse string
}

// Requirement is a fact without which a resource cannot be created.
type Requirement struct {
	Fact    string
	Missing string // error when it does not hold
	Once    bool   // once it exists, the resource does without
}

// Invoke is what one function of a provider answers.
type Invoke struct {
	Token  string
	Answer func(Object) (map[string]any, error) // laid over generated values; nil means those will do

	Secrets []string // results that are secret, beyond those of the schema
}

// Problem is one input that is wrong.
type Problem struct {
	Path   string
	Reason string
}

// Options say how the clouds behave.
type Options struct {
	Speed float64      // N is N times faster than reality, 0 is instant
	Fail  []Fault      // operations that fail
	Slow  []Delay      // operations that take a given time, whatever the speed
	Dir   string       // directory that holds what exists
	Log   *slog.Logger // debug messages without property values; nil means none
	Admit Admission    // has a say before anything is created or updated; nil admits everything

	// Unknown is told of each type that TakesUnknown has let pass, and Component of each component, each time; nil tells nobody.
	Unknown, Component func(token string)
}
