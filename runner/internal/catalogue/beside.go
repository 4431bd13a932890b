package catalogue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mara/config"
	"mara/projects"
)

// Beside returns the stack file beside a project, which may be missing. Projects that
// have none of their own have an empty one.
func Beside(root, environment string, project projects.Project) (config.StackFile, error) {
	if project.Own == nil || project.Own.StackFiles == "" {
		return config.StackFile{}, nil
	}
	stack := projects.StackNamesOf([]projects.Project{project}).Of(project.Name, environment)
	file := filepath.Join(project.Own.StackFiles, "Pulumi."+stack+".yaml")
	shown := file
	if relative, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(relative) {
		shown = filepath.ToSlash(relative)
	}
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return config.StackFile{File: shown}, nil
	}
	if err != nil {
		return config.StackFile{}, &config.Error{Problems: []config.Problem{{File: shown, Text: fmt.Sprintf("cannot be read: %v", err)}}}
	}
	parsed, err := config.ParseStack(shown, content)
	parsed.Exists = true
	return parsed, err
}
