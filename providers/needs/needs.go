// Package needs has what a project needs of others, as providers declare it and
// plans, events and reports pass it on.
package needs

import "slices"

// Needs are the projects that have to succeed before another one can start.
type Needs struct {
	Reads []string `json:"reads,omitempty"` // it reads the outputs of their stacks
	After []string `json:"after,omitempty"` // only the order matters
}

// All lists the projects, each once: those it reads first.
func (n Needs) All() []string {
	var all []string
	for _, name := range slices.Concat(n.Reads, n.After) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
