package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/programhost"
)

// OpenProject opens the environment as far as one project needs it, and is the
// folder to run Pulumi in.
func (s *Session) OpenProject(ctx context.Context, name string) (string, error) {
	why := ToLook
	if s.options.Simulation.On {
		why = ToOperate
	}
	if err := s.resolve(why); err != nil {
		return "", err
	}
	if _, err := s.ProjectNames(name); err != nil {
		return "", err
	}
	copies, err := s.prepareFiles(ctx, nil, why)
	if err != nil {
		return "", err
	}
	if s.options.Simulation.On {
		if err := s.startClouds(ctx); err != nil {
			return "", err
		}
	}
	if err := s.makeStateFolder(ToOperate); err != nil {
		return "", err
	}
	project, _ := projects.ByName(name)
	if !s.options.Simulation.On && s.inCheckout(project) {
		return s.projectFolder(project), nil
	}
	work, err := s.workFolder(why)
	if err != nil {
		return "", err
	}
	if s.options.Simulation.On {
		return s.simulatedCopy(work, project, copies)
	}
	s.findPlugins()
	return s.plainCopy(work, project)
}

// projectFolder is where a checkout has a project.
func (s *Session) projectFolder(project projects.Project) string {
	return filepath.Join(s.Settings.Root, "projects", filepath.FromSlash(project.Path))
}

// inCheckout says whether the root is a checkout that has the project.
func (s *Session) inCheckout(project projects.Project) bool {
	content, err := os.ReadFile(filepath.Join(s.projectFolder(project), "Pulumi.yaml"))
	var manifest struct {
		Name string `yaml:"name"`
	}
	return err == nil && yaml.Unmarshal(content, &manifest) == nil && manifest.Name == project.Name
}

// simulatedCopy is a folder with copies of the stack files: a simulation leaves
// the user's alone.
func (s *Session) simulatedCopy(work string, project projects.Project, copies encryption.Copies) (string, error) {
	content := copies.Stack
	if project.Name == projects.Secrets().Name {
		content = copies.Secrets
	}
	manifest := fmt.Sprintf("name: %s\nruntime: go\n", project.Name)
	return work, s.writeCopy(work, map[string]string{
		"Pulumi.yaml": manifest,
		"Pulumi." + s.Settings.Stack.Text + ".yaml": string(content),
	})
}

// plainCopy is a folder that stands for a project's in a checkout: Pulumi finds
// the user's own stack files from there.
func (s *Session) plainCopy(work string, project projects.Project) (string, error) {
	folder := filepath.Join(s.Settings.Root, config.Folder)
	if project.Name == projects.Secrets().Name {
		folder = filepath.Join(folder, "secrets")
	}
	relative, err := relativeFolder(work, folder)
	if err != nil {
		return "", err
	}
	manifest, err := yaml.Marshal(map[string]any{
		"name": project.Name, "runtime": "go", "stackConfigDir": relative,
		"plugins": map[string]any{"providers": pluginList(s.plugins)},
	})
	if err != nil {
		return "", err
	}
	return work, s.writeCopy(work, map[string]string{"Pulumi.yaml": string(manifest)})
}

// relativeFolder is the way from one folder to another, which Pulumi follows
// by the text: links on the way are taken first.
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

func (s *Session) writeCopy(folder string, files map[string]string) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			return s.FolderError(err)
		}
	}
	return nil
}

// HostProgram serves the project's program, with the provider that the runner
// knows even where the stack file does not name it, until the session closes.
func (s *Session) HostProgram(project string) (address string, err error) {
	program, ok := rooted(s.deps.Programs, s.Settings.Root)(project)
	if !ok {
		return "", fmt.Errorf("this runner has no program for the project %s", project)
	}
	host, err := programhost.Start(programhost.Options{
		Program: program,
		Config:  map[string]string{config.InfraType: s.Provider.Name},
	})
	if err != nil {
		return "", err
	}
	s.closers = append(s.closers, host.Close)
	return host.Address, nil
}

// ProjectNames are the projects whose outputs are wanted: one, or all.
func (s *Session) ProjectNames(wanted string) ([]string, error) {
	var names []string
	for _, step := range s.Plan.Steps {
		names = append(names, step.Project.Name)
	}
	if wanted == "" {
		return names, nil
	}
	if !slices.Contains(names, wanted) {
		return nil, &failure.Usage{
			Text: fmt.Sprintf("no project %q in the plan of %s%s", wanted, s.Provider.Name, config.DidYouMean(wanted, names)),
			Next: "`runner plan` shows the projects",
		}
	}
	return []string{wanted}, nil
}
