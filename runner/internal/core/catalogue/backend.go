package catalogue

import (
	"fmt"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/machine/failure"
)

// Backends returns the locations of the states that files name: the one at the top of mara.yaml, and those of projects,
// in mara.yaml or their Pulumi.yaml. Without the one at the top, that of the first project counts as the one of all.
func (c Catalogue) Backends(root string) (config.Backends, error) {
	home, err := config.AbsoluteBackend(c.Home, root)
	if err != nil {
		return config.Backends{}, err
	}
	named := config.Backends{Value: home}
	var nameless *model.Project
	for _, project := range c.Projects {
		if project.Own == nil || project.Own.Generated || project.Own.Broken != nil {
			continue
		}
		switch backend := project.Own.Backend; {
		case !backend.IsSet():
			nameless = &project
		case !named.IsSet():
			named.Value = backend
		case config.SameBackend(named.Text, backend.Text):
		case !config.MayMix(named.Text, backend.Text):
			return config.Backends{}, &failure.Environment{
				Text: fmt.Sprintf("%s is %s, and %s is %s: Pulumi Cloud has keys of its own, so all projects of a root are there, or none",
					backend.Origin, backend.Text, named.Origin, named.Text),
				Next: fmt.Sprintf("name one for all with %s, or keep the projects of the other one in a root of their own",
					config.BackendVariable),
			}
		default:
			if named.Elsewhere == nil {
				named.Elsewhere = config.Elsewhere{}
			}
			named.Elsewhere[project.Name] = backend
		}
	}
	if nameless != nil && !home.IsSet() && named.IsSet() {
		return config.Backends{}, &failure.Environment{
			Text: fmt.Sprintf("%s is %s, and %s/%s names no backend: then each project has to name one",
				named.Origin, named.Text, nameless.Path, config.ManifestFile),
			Next: fmt.Sprintf("if it is the one of all, write  backend: %s  at the top of %s", named.Text, config.MaraFile),
		}
	}
	return named, nil
}
