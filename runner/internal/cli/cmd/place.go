package cmd

import (
	"path"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/guard/policy"
	"mara/runner/internal/repo/sourceplace"
)

// Place returns the place in the repository that a finding of a guard refers to:
// the declaration of the resource, or else the file of the project or environment.
func (c Common) Place(stack, project, resource string) sourceplace.Place {
	var own *model.Own
	if known, ok := c.Known().Project(project); ok {
		own = known.Own
	}
	place := sourceplace.Find(c.Root, own, resource,
		config.StackPath(stack), config.DescriptionPath(stack), policy.SettingsFile, config.MaraFile, config.EnvironmentFile)
	place.File = c.InRepository(place.File)
	return place
}

// InRepository returns the path in the git repository of a file below the root;
// "" for none.
func (c Common) InRepository(file string) string {
	if file == "" {
		return ""
	}
	return path.Join(sourceplace.Prefix(c.Root), file)
}
