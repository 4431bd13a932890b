package session

import (
	"os"
	"path/filepath"
	"slices"

	"mara/providers"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/pulumi/programhost"
)

// StartPrograms starts the process that serves the built-in programs. It gets
// ready in the background, and ends when the session closes.
func (s *Session) StartPrograms() error {
	path, err := s.Deps.ProgramHost()
	if err != nil {
		return err
	}
	start := programhost.Start
	if s.Options.Shared != nil {
		start = s.Options.Shared.host
	}
	s.pulumi.programs, err = start(programhost.Options{
		Path: path, Root: s.Settings.Root, Provider: s.Provider.Name,
		Ran:   s.Profile.Ran,
		Ended: func(err error) { s.warn(err.Error()) },
	})
	if err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	if s.Options.Shared == nil {
		s.OnClose(s.pulumi.programs.Close)
	}
	s.Log.Debug("programs", "path", path)
	return nil
}

// AttachPrograms lets Pulumi's commands know where the programs are served.
func (s *Session) AttachPrograms() error {
	if err := s.pulumi.programs.Attach(s.Env); err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	return nil
}

// ProgramHost finds what serves the built-in programs: beside us, the engine, or on PATH.
func (d Deps) ProgramHost() (string, error) {
	directories := slices.Clone(d.PluginDirs)
	for _, engine := range d.Engines {
		directories = append(directories, filepath.Dir(engine))
	}
	path, err := programhost.Find(directories)
	if err != nil {
		return "", &failure.Environment{Text: err.Error()}
	}
	return path, nil
}

// findPlugins finds the resource providers that come with the runner, by name:
// Pulumi can neither download them nor guess where they are. One that is not
// there may be on the PATH, where Pulumi looks by itself; that it is nowhere is
// a matter of the preflight checks. Simulated clouds do without.
func findPlugins(provider providers.Provider, directories []string) map[string]string {
	found := map[string]string{}
	for _, name := range provider.BundledPlugins {
		for _, directory := range slices.Backward(directories) { // the first has the last word
			if info, err := os.Stat(filepath.Join(directory, "pulumi-resource-"+name)); err == nil && info.Mode().IsRegular() {
				found[name] = directory
			}
		}
	}
	return found
}
