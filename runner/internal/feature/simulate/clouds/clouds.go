// Package clouds describes, for the simulation, the providers that the
// programs use. Types come from mara/projects/schemas, which are made from the
// SDKs that the programs are compiled with; what is added here is what the
// types do not tell: formats of ids, computed values, what needs what, and how
// long things take.
//
// Nothing that looks like an address leads anywhere: host names end in
// ".invalid", IP addresses come from the ranges for documentation.
package clouds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/runner/internal/feature/simulate"
)

// host is what the simulation has of a provider.
type host struct {
	plugin func() simulate.Package // nil for clusters that no plugin makes
	domain string                  // of the API servers of its clusters: "eks"
	// existing says that the clusters are there without a resource that has made them.
	existing bool
	// loadBalancer is the address that a load balancer gets; nil where clusters
	// have none.
	loadBalancer func(simulate.Object) map[string]any
}

// hosts lists the providers.
func hosts() []host {
	return []host{awsHost(), digitaloceanHost(), kindHost(), linodeHost(), clusterHost()}
}

// Packages returns the simulations of the plugins that the programs use.
func Packages() []simulate.Package {
	var packages []simulate.Package
	for _, h := range hosts() {
		if h.plugin != nil {
			packages = append(packages, h.plugin())
		}
	}
	return append(packages, docker(), kubernetes())
}

// seconds returns the times that an operation takes in reality.
func seconds(create, update, remove float64) simulate.Latency {
	of := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	return simulate.Latency{Create: of(create), Update: of(update), Delete: of(remove)}
}

// field makes ids that are one of the inputs.
func field(path string) func(simulate.Object) string {
	return func(o simulate.Object) string { return o.TextOr(path, o.Name()) }
}

// fields makes ids that are several inputs joined together.
func fields(separator string, paths ...string) func(simulate.Object) string {
	return func(o simulate.Object) string {
		return strings.Join(lists.Map(paths, o.Text), separator)
	}
}

// below returns the paths of inputs in an object, or in the objects of a list.
func below(path string, inputs ...string) []string {
	return lists.Map(inputs, func(input string) string { return path + "." + input })
}

// needs makes links from an input that names another resource. A reference
// that is not given needs nothing.
func needs(path, fact, missing string) func(simulate.Object) []simulate.Requirement {
	return func(o simulate.Object) []simulate.Requirement {
		if o.Text(path) == "" {
			return nil
		}
		return []simulate.Requirement{{Fact: fact + o.Text(path), Missing: missing + " " + quote(o.Text(path))}}
	}
}

// links combines the facts that a resource provides with its requirements.
func links(
	provides func(simulate.Object) []simulate.Fact, requires ...func(simulate.Object) []simulate.Requirement,
) func(simulate.Object) simulate.Links {
	return func(o simulate.Object) simulate.Links {
		var l simulate.Links
		if provides != nil {
			l.Provides = provides(o)
		}
		for _, require := range requires {
			l.Requires = append(l.Requires, require(o)...)
		}
		return l
	}
}

// once marks what is needed for the creation only.
func once(require func(simulate.Object) []simulate.Requirement) func(simulate.Object) []simulate.Requirement {
	return func(o simulate.Object) []simulate.Requirement {
		needed := require(o)
		for i := range needed {
			needed[i].Once = true
		}
		return needed
	}
}

// byID provides the fact that a resource with an id exists.
func byID(fact, inUse string) func(simulate.Object) []simulate.Fact {
	return func(o simulate.Object) []simulate.Fact {
		return []simulate.Fact{{Name: fact + o.ID, InUse: inUse}}
	}
}

// facts returns facts that vanish even while other resources require them.
func facts(names ...string) []simulate.Fact {
	return lists.Map(names, func(name string) simulate.Fact { return simulate.Fact{Name: name} })
}

// check is a rule for inputs.
type check = func(simulate.Object) []simulate.Problem

// refuse returns one problem of the input at a path.
func refuse(path, format string, args ...any) []simulate.Problem {
	return []simulate.Problem{{Path: path, Reason: fmt.Sprintf(format, args...)}}
}

// wellFormed checks a string that is set; wrong describes an invalid one.
func wellFormed(path string, isGood func(text string) bool, wrong string) check {
	return func(o simulate.Object) []simulate.Problem {
		if text := o.Text(path); text != "" && !isGood(text) {
			return refuse(path, "%q %s", text, wrong)
		}
		return nil
	}
}

// every combines checks.
func every(checks ...check) check {
	return func(o simulate.Object) []simulate.Problem {
		return slices.Concat(lists.Map(checks, func(c check) []simulate.Problem { return c(o) })...)
	}
}

func quote(s string) string { return "'" + s + "'" }
