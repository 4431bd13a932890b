package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/run/event"
)

// backendRecord is the record of where an environment was deployed to, without the
// credentials in an address.
type backendRecord struct {
	Backend string `yaml:"backend"`
}

// CheckBackend refuses another backend than the one that the environment was deployed
// to from this root, where an up would create everything a second time. It allows one
// that was asked for, and any where nothing is deployed any more.
func CheckBackend(s *session.Session, asked bool) error {
	if asked || s.Options.Simulation.On {
		return nil
	}
	before, err := BackendBefore(s)
	if err != nil || before == "" {
		return err
	}
	now := event.MaskURLs(s.Settings.BackendPlace())
	return &failure.Environment{
		Text: otherBackend(s, before) + ": up would create it a second time, or work on old states",
		Next: fmt.Sprintf("move the states with `%s --to %s`; or name %s as the backend; or, if it is to be deployed a "+
			"second time, add --new-backend",
			s.Command("state move"), now, before),
	}
}

// otherBackend names the backend that the environment was deployed to, and the
// configured one.
func otherBackend(s *session.Session, before string) string {
	return fmt.Sprintf("%q was deployed to %s from here, and the backend is now %s (%s)",
		s.Settings.Stack.Text, before, event.MaskURLs(s.Settings.BackendPlace()), s.Settings.Backend.Origin)
}

// WarnOfBackend warns a command that only reads: what it does not find may be in the
// backend that the environment was deployed to.
func WarnOfBackend(s *session.Session) {
	if s.Options.Simulation.On {
		return
	}
	if before, err := BackendBefore(s); err == nil && before != "" {
		fmt.Fprintf(s.Deps.Stderr, "warning: %s\n", otherBackend(s, before))
	}
}

// BackendBefore returns the backend that the environment was last deployed to from this
// root, "" if that is the configured one, or if nothing of it is deployed there.
func BackendBefore(s *session.Session) (string, error) {
	before, err := recordedBackend(s)
	if err != nil || before == event.MaskURLs(s.Settings.BackendPlace()) {
		return "", err
	}
	deployed, err := mayBeDeployed(s, before)
	if err != nil || !deployed {
		return "", err
	}
	return before, nil
}

// recordedBackend reads the record. An environment without one may have been deployed
// to the default backend.
func recordedBackend(s *session.Session) (string, error) {
	content, err := os.ReadFile(s.Directory.Backend(s.Settings.Stack.Text))
	if errors.Is(err, fs.ErrNotExist) {
		return config.DefaultBackend, nil
	}
	if err != nil {
		return "", failure.RunnerDir(err)
	}
	var record backendRecord
	if err := yaml.Unmarshal(content, &record); err != nil || record.Backend == "" {
		return "", &failure.Environment{
			Text: s.Directory.Backend(s.Settings.Stack.Text) + " does not say where the environment was deployed to",
			Next: "write `backend: ADDRESS` into it, or delete it",
		}
	}
	return record.Backend, nil
}

// mayBeDeployed reports whether projects of the environment have resources in a
// backend. Of a backend that is no directory it is taken for granted.
func mayBeDeployed(s *session.Session, backend string) (bool, error) {
	settings, err := s.Settings.At(backend)
	if err != nil {
		return false, err
	}
	dir, isDir := settings.StateDir()
	if !isDir {
		return true, nil
	}
	states := s.States()
	states.Path = dir
	if !states.MayHaveStates() {
		return false, nil
	}
	standings, err := stacks.Options{Stack: s.Settings.Stack.Text, States: states}.StandingsIn(knownProjects(s))
	if err != nil {
		return false, &failure.Environment{
			Text: fmt.Sprintf("whether %q is deployed in %s is unknown: %v", s.Settings.Stack.Text, backend, err),
			Next: "add --new-backend if it is not to matter",
		}
	}
	for _, standing := range standings {
		if standing.Resources > 0 {
			return true, nil
		}
	}
	return false, nil
}

// RecordBackend records where the environment is deployed to.
func RecordBackend(s *session.Session) error {
	if s.Options.Simulation.On {
		return nil
	}
	record := backendRecord{Backend: event.MaskURLs(s.Settings.BackendPlace())}
	return request.WriteRecord(s.Directory.Backend(s.Settings.Stack.Text), record)
}

// DropBackend deletes the record once no project of the environment has resources. The
// stacks are listed.
func DropBackend(s *session.Session) error {
	if len(deployedProjects(s, s.Stacks.Summary)) > 0 {
		return nil
	}
	if err := os.Remove(s.Directory.Backend(s.Settings.Stack.Text)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure.RunnerDir(err)
	}
	return nil
}
