package catalogue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mara/config"
	"mara/projects/model"
)

// Beside reads the stack file in a project's directory, which may be missing. It returns an empty
// file for projects without their own stack files.
func Beside(root, environment string, project model.Project) (config.StackFile, error) {
	if project.Own == nil || project.Own.StackFiles == "" {
		return config.StackFile{}, nil
	}
	stack := model.StackNamesOf([]model.Project{project}).Of(project.Name, environment)
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
		return config.StackFile{}, &config.Error{Problems: []config.Problem{{File: shown,
			Text: fmt.Sprintf("cannot be read: %v", err)}}}
	}
	parsed, err := config.ParseStack(shown, content)
	parsed.Exists = true
	return parsed, err
}
