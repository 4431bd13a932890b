package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/encryption"
	"mara/runner/internal/stacks"
)

// folders are the own projects of the plan, with the copies of their stack files.
func (s *Session) folders(copies encryption.Copies) (func(project string) (stacks.Folder, bool), error) {
	found := map[string]stacks.Folder{}
	for _, project := range s.ownProjects() {
		folder := stacks.Folder{Path: project.Own.Dir}
		file, err := s.ownStackFile(project)
		if err == nil && project.Own.StackFiles != "" {
			folder.StackFile, err = copies.Over(file.Content)
		}
		if err != nil {
			return nil, err
		}
		found[project.Name] = folder
	}
	return func(project string) (stacks.Folder, bool) {
		folder, ok := found[project]
		return folder, ok
	}, nil
}

// ownProjects are those of the user's, also those that are left out.
func (s *Session) ownProjects() []projects.Project {
	var own []projects.Project
	for _, step := range s.Provider.Steps {
		if step.Project.Own != nil {
			own = append(own, step.Project)
		}
	}
	return own
}

// ownStackFile is the stack file beside a project, which may be missing.
func (s *Session) ownStackFile(project projects.Project) (config.StackFile, error) {
	if project.Own.StackFiles == "" {
		return config.StackFile{}, nil
	}
	file := filepath.Join(project.Own.StackFiles, "Pulumi."+s.Settings.Stack.Text+".yaml")
	shown := file
	if relative, err := filepath.Rel(s.Settings.Root, file); err == nil && filepath.IsLocal(relative) {
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

// checkOwnStackFiles reports what is wrong in the stack files beside projects, and
// which of the missing keys are there.
func (s *Session) checkOwnStackFiles(missing []config.Key) (rest []config.Key, problems []config.Problem, err error) {
	var errs []error
	for _, project := range s.ownProjects() {
		file, err := s.ownStackFile(project)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		problems = append(problems, file.Check(s.Options.DeclaredKeys())...)
		missing = slices.DeleteFunc(slices.Clone(missing), func(key config.Key) bool {
			_, declared := project.Key(key.Name)
			return declared && len(file.Missing([]config.Key{key})) == 0
		})
	}
	return missing, problems, config.Join(errs...)
}

// manifest is the Pulumi.yaml of an own project for another folder: its program
// stays where it is, and its stack files are in stackFiles.
func manifest(project projects.Project, work, stackFiles string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(project.Own.Dir, config.ManifestFile))
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	dir := project.Own.Dir
	if main, ok := document["main"].(string); ok {
		dir = filepath.Join(dir, main)
	}
	if document["main"], err = relativeFolder(work, dir); err != nil {
		return nil, err
	}
	delete(document, "stackConfigDir")
	if stackFiles != "" {
		document["stackConfigDir"] = stackFiles
	}
	return yaml.Marshal(document)
}
