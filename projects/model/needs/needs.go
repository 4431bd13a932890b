// Package needs declares which projects another one needs; providers, plans, events and
// reports use it.
package needs

import "slices"

// Needs are the projects that have to succeed before another one can start.
type Needs struct {
	Reads []string `json:"reads,omitempty"` // it reads the outputs of their stacks
	After []string `json:"after,omitempty"` // only the order matters
}

// All returns the projects, each once, those in Reads first.
func (n Needs) All() []string {
	var all []string
	for _, name := range slices.Concat(n.Reads, n.After) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
