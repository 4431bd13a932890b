package session

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
)

// Project is one project of the environment, for plain Pulumi to work on.
type Project struct {
	projects.Project
	session *Session
}

// Project finds a project of the plan.
func (s *Session) Project(name string) (Project, error) {
	for _, step := range s.Plan.Steps {
		if step.Project.Name == name {
			return Project{step.Project, s}, nil
		}
	}
	return Project{}, &failure.Usage{
		Text: fmt.Sprintf("no project %q in the plan of %s%s", name, s.Provider.Name, config.DidYouMean(name, s.Plan.Names())),
		Next: "`runner plan` shows the projects",
	}
}

// Folder is a folder in which Pulumi can work on the project: the one of a
// checkout, else one that stands for it. Where there are copies of the stack
// files, it works on those, and leaves the user's alone.
func (p Project) Folder(copies encryption.Copies) (string, error) {
	s := p.session
	if err := s.States().Make(); err != nil {
		return "", failure.RunnerFolder(err)
	}
	plain := len(copies.Stack) == 0
	if p.Own != nil && p.Own.StackFiles != "" && plain {
		return p.Own.Dir, nil
	}
	checkout := filepath.Join(s.Settings.Root, filepath.FromSlash(p.Project.Folder()))
	if p.Own == nil && plain && hasProject(checkout, p.Name) {
		return checkout, nil
	}
	work, err := s.TempFolder()
	if err != nil {
		return "", err
	}
	files, err := p.onCopies(work, copies)
	if plain {
		files, err = p.plain(work)
	}
	if err != nil {
		return "", err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(work, name), content, 0o600); err != nil {
			return "", failure.RunnerFolder(err)
		}
	}
	return work, nil
}

// hasProject reports whether a folder is that of a project.
func hasProject(folder, name string) bool {
	content, err := os.ReadFile(filepath.Join(folder, "Pulumi.yaml"))
	var manifest struct {
		Name string `yaml:"name"`
	}
	return err == nil && yaml.Unmarshal(content, &manifest) == nil && manifest.Name == name
}

// onCopies are the files of the project with a copy of its stack file.
func (p Project) onCopies(work string, copies encryption.Copies) (map[string][]byte, error) {
	content := copies.Stack
	if p.Name == projects.Secrets().Name {
		content = copies.Secrets
	}
	settings, err := p.builtIn(nil)
	if p.Own != nil {
		if content, err = p.session.stackFileOf(p.Project, copies); err == nil {
			settings, err = manifest(p.Project, work, "")
		}
	}
	return map[string][]byte{
		config.ManifestFile:             settings,
		"Pulumi." + p.Stack() + ".yaml": content,
	}, err
}

// NeedsCopies reports whether plain Pulumi would not find all that the project has:
// values of layers, and, where its program runs, secrets that the runner keeps.
func (p Project) NeedsCopies(runs bool) bool {
	s := p.session
	return s.Settings.Config.Described() || runs && p.Own != nil && slices.ContainsFunc(p.Secrets, func(secret projects.Secret) bool {
		_, kept := s.Settings.Secrets.Lookup(secret.Key)
		return kept
	})
}

// Stack is the name of the project's stack in the environment.
func (p Project) Stack() string { return p.session.stackOf(p.Project) }

// plain are the files of the project in the folder work that lead Pulumi to the
// user's own stack files.
func (p Project) plain(work string) (map[string][]byte, error) {
	folder := filepath.Join(p.session.Settings.Root, config.Folder)
	if p.Own == nil && p.Name == projects.SecretsProject {
		folder = filepath.Join(folder, "secrets")
	}
	relative, err := relativeFolder(work, folder)
	if err != nil {
		return nil, err
	}
	if p.Own != nil {
		settings, err := manifest(p.Project, work, relative)
		return map[string][]byte{config.ManifestFile: settings}, err
	}
	settings, err := p.builtIn(map[string]any{"stackConfigDir": relative})
	return map[string][]byte{config.ManifestFile: settings}, err
}

// builtIn is the Pulumi.yaml of a built-in project.
func (p Project) builtIn(more map[string]any) ([]byte, error) {
	settings := map[string]any{
		"name": p.Name, "runtime": projects.Runtime,
		"plugins": map[string]any{"providers": pluginList(p.session.plugins)},
	}
	maps.Copy(settings, more)
	return yaml.Marshal(settings)
}

// relativeFolder is the way from one folder to another. Pulumi follows it by its
// text, so links on the way are resolved first.
func relativeFolder(from, to string) (string, error) {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(to); err == nil { // secrets/ may be missing
		to = resolved
	}
	return filepath.Rel(from, to)
}
