package session

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"

	"mara/runner/internal/encryption"
	"mara/runner/internal/failure"
)

// prepareFiles makes the working copies of the stack files.
func (s *Session) prepareFiles(ctx context.Context, engine engine, why Need) (encryption.Copies, error) {
	if why == ToLook {
		return encryption.Copies{}, nil
	}
	options := s.encryptionOptions()
	options.Open = s.opener(ctx, engine)
	copies, err := encryption.Prepare(options)
	if err != nil {
		return encryption.Copies{}, s.encryptionError(err)
	}
	s.Masker.Add(copies.Known...)
	s.MadeUp = copies.MadeUp
	maps.Copy(s.Env, copies.Env)
	return copies, nil
}

// encryptionOptions are what decides how the environment is encrypted.
func (s *Session) encryptionOptions() encryption.Options {
	options := encryption.Options{
		Stack:    encryption.File{Path: s.Settings.Config.File, Content: s.Settings.Config.Content},
		Secrets:  encryption.File{Path: s.Settings.Secrets.File, Content: s.Settings.Secrets.Content},
		SaltFile: s.recordFile(),
		Provider: s.Provider.Name,
		Env:      s.Env,
		Managed:  s.managed(),
	}
	if s.options.Simulation.On {
		options.Simulate = &encryption.ThrowAway{
			Keys:    s.planKeys(),
			Secrets: s.planSecrets(),
			File:    s.Folder.Secrets(s.Settings.Stack.Text),
		}
	}
	return options
}

// encryptionError marks what is wrong with the passphrase or the files it
// opens as a matter of the environment.
func (s *Session) encryptionError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && strings.HasPrefix(path.Path, string(s.Folder)) {
		return s.FolderError(err)
	}
	return &failure.Environment{Text: err.Error()}
}

// managed is true where the backend encrypts secrets by itself.
func (s *Session) managed() bool {
	return strings.HasPrefix(s.Settings.Backend.Text, "https://") || strings.HasPrefix(s.Settings.Backend.Text, "http://")
}
