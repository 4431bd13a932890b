// Package checkout finds or makes the directories in which Pulumi works on a project of an
// environment, and reads the stack files in the directories of own projects.
package checkout

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/secrets/encryption"
	"mara/runner/internal/state/statefiles"
)

// Maker makes directories for the projects of an environment.
type Maker struct {
	Settings config.Settings
	Files    Files
	States   statefiles.Directory
	Plugins  map[string]string      // directories of resource providers next to the runner
	TempDir  func() (string, error) // makes a directory that the caller removes later
}

// Own returns the directories of own projects, with the copies of their stack files.
func (m Maker) Own(all []model.Project, copies encryption.Copies) (func(project string) (stacks.Directory, bool),
	error) {
	found := map[string]stacks.Directory{}
	for _, project := range all {
		content, err := m.stackFileOf(project, copies)
		if err != nil {
			return nil, err
		}
		found[project.Name] = stacks.Directory{Path: project.Own.Dir, StackFile: content}
	}
	return func(project string) (stacks.Directory, bool) {
		directory, ok := found[project]
		return directory, ok
	}, nil
}

// stackFileOf returns the copy of the stack file that an own project works on.
func (m Maker) stackFileOf(project model.Project, copies encryption.Copies) ([]byte, error) {
	if project.Own.StackFiles == "" {
		return copies.Stack, nil
	}
	file, err := m.Files.Of(project)
	if err != nil {
		return nil, err
	}
	return copies.Over(file)
}

// Directory returns a directory in which Pulumi can work on the project: the project's directory in a
// checkout, or else a substitute. If there are copies of the stack files, Pulumi uses the copies
// and does not change the user's files.
func (m Maker) Directory(p model.Project, copies encryption.Copies) (string, error) {
	if err := m.States.Make(); err != nil {
		return "", failure.RunnerDir(err)
	}
	plain := len(copies.Stack) == 0
	if p.Own != nil && p.Own.StackFiles != "" && plain {
		return p.Own.Dir, nil
	}
	checkout := filepath.Join(m.Settings.Root, filepath.FromSlash(p.Directory()))
	if p.Own == nil && plain && hasProject(checkout, p.Name) {
		return checkout, nil
	}
	work, err := m.TempDir()
	if err != nil {
		return "", err
	}
	files, err := m.onCopies(p, work, copies)
	if plain {
		files, err = m.plain(p, work)
	}
	if err != nil {
		return "", err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(work, name), content, 0o600); err != nil {
			return "", failure.RunnerDir(err)
		}
	}
	return work, nil
}

// hasProject reports whether a directory is the project's directory.
func hasProject(directory, name string) bool {
	content, err := os.ReadFile(filepath.Join(directory, "Pulumi.yaml"))
	var manifest struct {
		Name string `yaml:"name"`
	}
	return err == nil && yaml.Unmarshal(content, &manifest) == nil && manifest.Name == name
}

// onCopies returns the files of the project with a copy of its stack file.
func (m Maker) onCopies(p model.Project, work string, copies encryption.Copies) (map[string][]byte, error) {
	content := copies.Stack
	if p.Name == projects.Secrets().Name {
		content = copies.Secrets
	}
	settings, err := m.builtIn(p, nil)
	if p.Own != nil {
		if content, err = m.stackFileOf(p, copies); err == nil {
			settings, err = manifest(p, work, "")
		}
	}
	return map[string][]byte{
		config.ManifestFile:              settings,
		"Pulumi." + m.Stack(p) + ".yaml": content,
	}, err
}

// NeedsCopies reports whether plain Pulumi would miss values of the project: values of layers
// and, if its program runs, secrets that the runner stores.
func (m Maker) NeedsCopies(p model.Project, runs bool) bool {
	if m.Settings.Config.Described() || runs && m.lacksSalt(p) {
		return true
	}
	return runs && p.Own != nil && slices.ContainsFunc(p.Secrets, func(secret model.Secret) bool {
		_, kept := m.Settings.Secrets.Lookup(secret.Key)
		return kept
	})
}

// lacksSalt reports whether Pulumi would add a new salt to the shared stack file although the
// environment has one.
func (m Maker) lacksSalt(p model.Project) bool {
	if p.Name == projects.SecretsProject && p.Own == nil || p.Own != nil && p.Own.StackFiles != "" ||
		m.Settings.Managed() {
		return false
	}
	return !SaysHow(m.Settings.Config) && SaysHow(m.Settings.Secrets)
}

// Stack returns the name of a project's stack in the environment.
func (m Maker) Stack(p model.Project) string {
	return model.StackNamesOf([]model.Project{p}).Of(p.Name, m.Settings.Stack.Text)
}

// plain returns files for the directory work that make Pulumi use the user's stack files.
func (m Maker) plain(p model.Project, work string) (map[string][]byte, error) {
	directory := filepath.Join(m.Settings.Root, config.Directory)
	if p.Own == nil && p.Name == projects.SecretsProject {
		directory = filepath.Join(directory, "secrets")
	}
	relative, err := relativeDir(work, directory)
	if err != nil {
		return nil, err
	}
	if p.Own != nil {
		settings, err := manifest(p, work, relative)
		return map[string][]byte{config.ManifestFile: settings}, err
	}
	settings, err := m.builtIn(p, map[string]any{"stackConfigDir": relative})
	return map[string][]byte{config.ManifestFile: settings}, err
}

// builtIn returns the Pulumi.yaml of a built-in project.
func (m Maker) builtIn(p model.Project, more map[string]any) ([]byte, error) {
	settings := map[string]any{
		"name": p.Name, "runtime": projects.Runtime,
		"plugins": map[string]any{"providers": pluginList(m.Plugins)},
	}
	maps.Copy(settings, more)
	return yaml.Marshal(settings)
}

// pluginList returns how a Pulumi.yaml lists resource providers.
func pluginList(plugins map[string]string) []map[string]string {
	list := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		list = append(list, map[string]string{"name": name, "path": plugins[name]})
	}
	return list
}

// manifest returns the Pulumi.yaml of an own project for another directory. It refers to the
// program in the project's directory, and to the stack files in stackFiles.
func manifest(project model.Project, work, stackFiles string) ([]byte, error) {
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
	if document["main"], err = relativeDir(work, dir); err != nil {
		return nil, err
	}
	delete(document, "stackConfigDir")
	if stackFiles != "" {
		document["stackConfigDir"] = stackFiles
	}
	return yaml.Marshal(document)
}

// relativeDir returns the relative path from one directory to another. It resolves links first,
// because Pulumi joins paths as strings.
func relativeDir(from, to string) (string, error) {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(to); err == nil { // secrets/ may be missing
		to = resolved
	}
	return filepath.Rel(from, to)
}
