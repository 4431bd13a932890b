package session

import (
	"path/filepath"
	"slices"

	"mara/runner/internal/failure"
	"mara/runner/internal/programhost"
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
	s.programs, err = start(programhost.Options{
		Path: path, Root: s.Settings.Root, Provider: s.Provider.Name,
		Ran:   s.Profile.Ran,
		Ended: func(err error) { s.warn(err.Error()) },
	})
	if err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	if s.Options.Shared == nil {
		s.OnClose(s.programs.Close)
	}
	s.Log.Debug("programs", "path", path)
	return nil
}

// AttachPrograms lets Pulumi's commands know where the programs are served.
func (s *Session) AttachPrograms() error {
	if err := s.programs.Attach(s.Env); err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	return nil
}

// ProgramHost finds the program that serves the built-in programs: beside the
// runner, beside the engine, or on PATH.
func (d Deps) ProgramHost() (string, error) {
	folders := slices.Clone(d.PluginFolders)
	for _, path := range d.Engines {
		folders = append(folders, filepath.Dir(path))
	}
	path, err := programhost.Find(folders)
	if err != nil {
		return "", &failure.Environment{Text: err.Error()}
	}
	return path, nil
}
