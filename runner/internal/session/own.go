package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/catalogue"
	"mara/runner/internal/encryption"
	"mara/runner/internal/stacks"
)

// folders are the own projects of the plan, with the copies of their stack files.
func (s *Session) folders(copies encryption.Copies) (func(project string) (stacks.Folder, bool), error) {
	found := map[string]stacks.Folder{}
	for _, project := range s.ownProjects() {
		content, err := s.stackFileOf(project, copies)
		if err != nil {
			return nil, err
		}
		found[project.Name] = stacks.Folder{Path: project.Own.Dir, StackFile: content}
	}
	return func(project string) (stacks.Folder, bool) {
		folder, ok := found[project]
		return folder, ok
	}, nil
}

// stackFileOf is the copy of the stack file that an own project works on.
func (s *Session) stackFileOf(project projects.Project, copies encryption.Copies) ([]byte, error) {
	if project.Own.StackFiles == "" {
		return copies.Stack, nil
	}
	file, err := s.ownStackFile(project)
	if err != nil {
		return nil, err
	}
	return copies.Over(file.Content)
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

// stackOf is the name of a project's stack.
func (s *Session) stackOf(project projects.Project) string {
	return projects.StackNamesOf([]projects.Project{project}).Of(project.Name, s.Settings.Stack.Text)
}

// ownStackFile is the stack file beside a project, which may be missing.
func (s *Session) ownStackFile(project projects.Project) (config.StackFile, error) {
	return catalogue.Beside(s.Settings.Root, s.Settings.Stack.Text, project)
}

// beside are the stack files beside the own projects of the plan, by project; one
// that cannot be read is told elsewhere. covered says that each project of the
// plan has one that says how it is encrypted.
func (s *Session) beside() (files map[string]config.StackFile, covered bool) {
	files, covered = map[string]config.StackFile{}, len(s.Plan.Steps) > 0
	for _, step := range s.Plan.Steps {
		if step.Project.Own != nil {
			if file, err := s.ownStackFile(step.Project); err == nil && file.Exists {
				files[step.Project.Name] = file
			}
		}
		covered = covered && saysHow(files[step.Project.Name])
	}
	return files, covered
}

// saysHow reports whether a stack file says how its values are encrypted.
func saysHow(file config.StackFile) bool {
	header, err := file.Header()
	return err == nil && header != (config.Header{})
}

// withoutOwn are the secrets of a project that the file beside it does not have.
func withoutOwn(secrets []projects.Secret, file config.StackFile) []projects.Secret {
	return slices.DeleteFunc(slices.Clone(secrets), func(secret projects.Secret) bool {
		entry, _ := file.Lookup(secret.Key)
		_, encrypted := entry.Value.(config.Ciphertext)
		return encrypted
	})
}

// missingBeside are the secrets of a project that a file with an encryption of its
// own lacks: what the runner keeps is encrypted in another way.
func (s *Session) missingBeside(project projects.Project, file config.StackFile) []config.Problem {
	if s.Options.Simulation.On || !s.Options.Operation.RunsPrograms() || !saysHow(file) {
		return nil
	}
	var problems []config.Problem
	for _, secret := range withoutOwn(project.Secrets, file) {
		if _, plain := file.Lookup(secret.Key); secret.Optional || plain {
			continue
		}
		problems = append(problems, config.Problem{File: file.File, Key: secret.Key, Text: fmt.Sprintf(
			"is missing: %s; the file has an encryption of its own, so set it with %s", secret.Doc, s.settingBeside(project, secret.Key))})
	}
	return problems
}

// settingBeside is the command that sets a secret in the stack file beside a
// project.
func (s *Session) settingBeside(project projects.Project, key string) string {
	return fmt.Sprintf("`runner pulumi %s -s %s -- config set --secret %s`", project.Name, s.Settings.Stack.Text, key)
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
		problems = append(problems, file.CheckDeclared(s.Options.DeclaredKeys())...)
		problems = append(problems, s.missingBeside(project, file)...)
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
