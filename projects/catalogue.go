// Package projects is the catalogue of the Pulumi projects: what each one is
// called, where it lives, which configuration and secrets it reads and what it
// exports. It holds data only and imports no cloud SDK, so that planning,
// validating and documenting stay quick; the programs themselves live in the
// directories below and are reached through mara/projects/programs.
package projects

import (
	"slices"

	"mara/config/lists"
	"mara/projects/model"
)

// All lists every project, grouped and in a stable order.
func All() []model.Project {
	var own []model.Project
	for _, i := range Infrastructures() {
		own = append(own, i.Projects()...)
	}
	return slices.Concat(own, utilityProjects(), kubernetesProjects(), Optional())
}

// ByName finds a project by its Pulumi name.
func ByName(name string) (model.Project, bool) {
	return lists.Find(All(), func(p model.Project) bool { return p.Name == name })
}
