package session

import (
	"bytes"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/fleet"
	"mara/runner/internal/journal"
)

// Environment names what runs are about.
func (s *Session) Environment() journal.Environment {
	return journal.Environment{Provider: s.Provider.Name, Stack: s.Settings.Stack.Text}
}

// Labels are those of the environment.
func (s *Session) Labels() map[string]string {
	return fleet.NewEnvironment(s.Settings.Stack.Text, s.Provider.Name, s.Settings.Config, s.Settings.Described).Labels
}

// Fingerprint is that of the configuration: the stack files, in which secrets
// are encrypted, and the names of what the environment file sets. Its values
// may be secrets, which could be guessed from a digest.
func (s *Session) Fingerprint() journal.Fingerprint {
	var names []string
	for _, variable := range s.Options.Sources.File.Variables() {
		names = append(names, variable.Name)
	}
	slices.Sort(names)
	return journal.NewFingerprint(map[string][]byte{
		s.Settings.Config.File:                  bytes.TrimSpace(s.Settings.Config.Content),
		s.Settings.Secrets.File:                 bytes.TrimSpace(s.Settings.Secrets.Content),
		config.EnvironmentFile + " (its names)": []byte(strings.Join(names, "\n")),
	})
}
