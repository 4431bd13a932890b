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
	"time"

	"mara/runner/internal/simulate"
)

// host is what the simulation has of a provider.
type host struct {
	plugin func() simulate.Package
	domain string // of the API servers of its clusters: "eks"
	// loadBalancer is the address that a load balancer gets; nil where clusters
	// have none.
	loadBalancer func(simulate.Object) map[string]any
}

// hosts lists the providers.
func hosts() []host {
	return []host{awsHost(), digitaloceanHost(), kindHost(), linodeHost()}
}

// Packages are Pulumi's plugins that the programs use.
func Packages() []simulate.Package {
	packages := []simulate.Package{docker(), kubernetes()}
	for _, host := range hosts() {
		packages = append(packages, host.plugin())
	}
	return packages
}

// seconds are the times that an operation takes in reality.
func seconds(create, update, remove float64) simulate.Latency {
	return simulate.Latency{Create: toDuration(create), Update: toDuration(update), Delete: toDuration(remove)}
}

func toDuration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

// field makes ids that are one of the inputs.
func field(path string) func(simulate.Object) string {
	return func(o simulate.Object) string { return o.TextOr(path, o.Name()) }
}

// fields makes ids that are several inputs joined together.
func fields(separator string, paths ...string) func(simulate.Object) string {
	return func(o simulate.Object) string {
		id := o.Text(paths[0])
		for _, path := range paths[1:] {
			id += separator + o.Text(path)
		}
		return id
	}
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

// links puts what a resource needs and what it provides together.
func links(provides func(simulate.Object) []simulate.Fact, requires ...func(simulate.Object) []simulate.Requirement) func(simulate.Object) simulate.Links {
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

// byID is the fact that a resource with an id exists.
func byID(fact, inUse string) func(simulate.Object) []simulate.Fact {
	return func(o simulate.Object) []simulate.Fact {
		return []simulate.Fact{{Name: fact + o.ID, InUse: inUse}}
	}
}

func quote(s string) string { return "'" + s + "'" }
