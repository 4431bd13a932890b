// Package operation names the operations on an environment and their properties.
package operation

import (
	"slices"
	"strings"
)

// Operation is what a run does with the projects of a plan, as users, events and files
// write it.
type Operation string

// The operations, by Pulumi's names.
const (
	Up      Operation = "up"
	Preview Operation = "preview"
	Refresh Operation = "refresh"
	Destroy Operation = "destroy"
	// Drift compares the state with the real resources and changes neither; it is
	// Pulumi's refresh as a preview.
	Drift Operation = "drift"
)

// plain begins the names of Pulumi's commands, as runs are called that plain Pulumi has made.
const plain = "pulumi "

// Plain names the run of one of Pulumi's commands, which is none of the operations here.
func Plain(command string) Operation { return Operation(plain + command) }

// IsPlain reports whether it was a command of plain Pulumi. What it changed is not counted.
func (o Operation) IsPlain() bool { return strings.HasPrefix(string(o), plain) }

// All lists the operations.
func All() []Operation { return []Operation{Up, Preview, Refresh, Drift, Destroy} }

// Names returns the operations as strings.
func Names() []string {
	var names []string
	for _, o := range All() {
		names = append(names, string(o))
	}
	return names
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

// ChangesResources reports whether the operation changes real resources.
func (o Operation) ChangesResources() bool { return o.Deploys() || o.Destroys() }

// Writes reports whether the operation changes anything: resources or states.
func (o Operation) Writes() bool { return o.ChangesResources() || o == Refresh }

// RunsPrograms reports whether the operation runs the programs of the projects, which need
// configuration and secrets. The other operations work on the deployed state.
func (o Operation) RunsPrograms() bool { return o == Up || o == Preview }

// ComparesState reports whether the operation compares states with the real resources. No
// project needs another one for that.
func (o Operation) ComparesState() bool { return o == Refresh || o == Drift }
