package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"al.essio.dev/pkg/shellescape"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/atomicfile"
	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
)

// A change of the key provider that has begun is noted in
// .runner/environments/<stack>.change.yaml until it has ended: the new
// encryption, without the passphrase or anything that it protects.

// marker is the note.
type marker struct {
	Salt     string `yaml:"encryptionsalt,omitempty"`
	Provider string `yaml:"secretsprovider,omitempty"`
	DataKey  string `yaml:"encryptedkey,omitempty"`
}

// markerFile is where the note is; simulations are never changed.
func (s *Session) markerFile() string {
	return layout.Of(s.Settings.Root, false).KeyChange(s.Settings.Stack.Text)
}

// readMarker is the encryption that a change has begun with, if one has.
func (s *Session) readMarker() (scheme encryption.Scheme, begun bool, err error) {
	content, err := os.ReadFile(s.markerFile())
	if errors.Is(err, fs.ErrNotExist) {
		return encryption.Scheme{}, false, nil
	}
	if err != nil {
		return encryption.Scheme{}, false, s.FolderError(err)
	}
	var m marker
	if err := yaml.Unmarshal(content, &m); err != nil || m.Salt == "" && m.Provider == "" {
		return encryption.Scheme{}, false, &failure.Environment{Text: s.markerFile() + " is damaged", Next: "restore it from a backup: it says how a change of the key provider has begun"}
	}
	return encryption.Scheme{Salt: m.Salt, Provider: m.Provider, DataKey: m.DataKey}, true, nil
}

func (s *Session) writeMarker(scheme encryption.Scheme) error {
	content, err := yaml.Marshal(marker{Salt: scheme.Salt, Provider: scheme.Provider, DataKey: scheme.DataKey})
	if err != nil {
		return err
	}
	file := s.markerFile()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return s.FolderError(err)
	}
	content = append([]byte("# A change of the key provider has begun: this is the new one.\n"), content...)
	if err := atomicfile.Write(file, content, 0o600); err != nil {
		return s.FolderError(err)
	}
	return nil
}

func (s *Session) removeMarker() error {
	if err := os.Remove(s.markerFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.FolderError(err)
	}
	return nil
}

// forgetSalt removes the salt that was kept for a stack file which now has its
// own.
func (s *Session) forgetSalt() error {
	if err := os.Remove(s.recordFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.FolderError(err)
	}
	return nil
}

// checkNoChange refuses to work on an environment in the middle of a change: one
// half of it cannot be read with the old key, the other not with the new one.
func (s *Session) checkNoChange() error {
	scheme, begun, err := s.readMarker()
	if err != nil || !begun {
		return err
	}
	return &failure.Environment{
		Text: fmt.Sprintf("the key provider of %s is being changed to %s, and that was interrupted", s.Settings.Stack.Text, providerName(scheme)),
		Next: "carry on with `" + commandFor(s.Settings.Stack.Text, scheme) + "`",
	}
}

// providerName is the key provider as the user names it.
func providerName(scheme encryption.Scheme) string {
	if scheme.Salt != "" {
		return "passphrase"
	}
	return scheme.Provider
}

// commandFor is the command that changes to a key provider.
func commandFor(stack string, scheme encryption.Scheme) string {
	return fmt.Sprintf("runner secrets change-provider %s -s %s", shellescape.Quote(providerName(scheme)), stack)
}
