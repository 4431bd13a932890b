package operate

import (
	"path"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/sourceplace"
)

// Place returns the place in the repository that a finding of a guard refers to:
// the declaration of the resource, or else the file of the project or environment.
func Place(r request.Request, stack, project, resource string) sourceplace.Place {
	var own *model.Own
	if known, ok := r.Known().Project(project); ok {
		own = known.Own
	}
	place := sourceplace.Find(r.Root, own, resource,
		config.StackPath(stack), config.DescriptionPath(stack), config.PolicyFile, config.MaraFile, config.EnvironmentFile)
	place.File = InRepository(r, place.File)
	return place
}

// InRepository returns the path in the git repository of a file below the root;
// "" for none.
func InRepository(r request.Request, file string) string {
	if file == "" {
		return ""
	}
	return path.Join(sourceplace.Prefix(r.Root), file)
}
