// Package projects is the catalogue of the Pulumi projects: what each one is
// called, where it lives, which configuration and secrets it reads and what it
// exports. It holds data only and imports no cloud SDK, so that planning,
// validating and documenting stay quick; the programs themselves live in the
// directories below and are reached through mara/projects/programs.
package projects

import (
	"path"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/projects/model"
)

// Runtime is the runtime that the Pulumi.yaml of every project here names: it is
// served by the command below pulumi-language-mara.
const Runtime = "mara"

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

// Resolve returns the name of the project that a word names: by its name, or else by its title or its directory,
// in upper or lower case. Several projects that share a title or directory are all returned, and none for an unknown
// word.
func Resolve(all []model.Project, word string) []string {
	if _, ok := lists.Find(all, func(p model.Project) bool { return p.Name == word }); ok {
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
