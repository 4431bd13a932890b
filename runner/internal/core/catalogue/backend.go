package catalogue

import (
	"fmt"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/machine/failure"
)

// Backend returns the location of the states that files name: the one in mara.yaml, or the one that the Pulumi.yaml of
// all own projects name. It is not set if they name none. Projects that name several are an error: a run works in one.
func (c Catalogue) Backend(root string) (config.Value, error) {
	named, err := config.AbsoluteBackend(c.Home, root)
	if err != nil {
		return config.Value{}, err
	}
	var nameless *model.Project
	for _, project := range c.Projects {
		if project.Own == nil || project.Own.Generated || project.Own.Broken != nil {
			continue
		}
		backend := project.Own.Backend
		switch {
		case !backend.IsSet() && !c.Home.IsSet():
			nameless = &project
		case !backend.IsSet():
		case !named.IsSet():
			named = backend
		case !config.SameBackend(named.Text, backend.Text):
			return config.Value{}, &failure.Environment{
				Text: fmt.Sprintf("%s is %s, and %s is %s: all projects of a root have one backend",
					backend.Origin, backend.Text, named.Origin, named.Text),
				Next: fmt.Sprintf("name one for all with %s, or keep the projects of the other one in a root of their own",
					config.BackendVariable),
			}
		}
	}
	if nameless != nil && named.IsSet() {
		return config.Value{}, &failure.Environment{
			Text: fmt.Sprintf("%s is %s, and %s/%s names no backend: all projects of a root have one",
				named.Origin, named.Text, nameless.Path, config.ManifestFile),
			Next: fmt.Sprintf("if it is the one of all, write  backend: %s  at the top of %s", named.Text, config.MaraFile),
		}
	}
	return named, nil
}
