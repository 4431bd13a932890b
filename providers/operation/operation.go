// Package operation names the operations on an environment and says what is
// true of each.
package operation

import (
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

// Operation is what a run does with the projects of a plan. Its text is what
// users type, and what events and files say.
type Operation string

// The operations, which carry Pulumi's names.
const (
	Up      Operation = "up"
	Preview Operation = "preview"
	Refresh Operation = "refresh"
	Destroy Operation = "destroy"
	// Drift compares the state with what really exists and changes neither; it
	// is Pulumi's refresh as a preview.
	Drift Operation = "drift"
)

// All lists the operations.
func All() []Operation { return []Operation{Up, Preview, Refresh, Drift, Destroy} }

// Names lists the texts of the operations.
func Names() []string {
	return slice.Map(All(), func(o Operation) string { return string(o) })
}

// Parse returns the operation of a name; ok is false if there is none.
func Parse(name string) (o Operation, ok bool) {
	return Operation(name), slices.Contains(Names(), name)
}

// Deploys reports whether the operation creates and updates resources.
func (o Operation) Deploys() bool { return o == Up }

// Destroys reports whether the operation deletes resources, in the reverse order
// of the plan.
func (o Operation) Destroys() bool { return o == Destroy }

// ChangesResources reports whether the operation changes what really exists.
func (o Operation) ChangesResources() bool { return o.Deploys() || o.Destroys() }

// Writes reports whether the operation changes anything: resources or states.
func (o Operation) Writes() bool { return o.ChangesResources() || o == Refresh }

// RunsPrograms reports whether the operation runs the programs of the projects,
// which need configuration and secrets. The others work on what is deployed.
func (o Operation) RunsPrograms() bool { return o == Up || o == Preview }

// ComparesState reports whether the operation compares states with what really
// exists. No project needs another one for that.
func (o Operation) ComparesState() bool { return o == Refresh || o == Drift }
