package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mara/runner/internal/layout"
)

// workFolder is a folder of this session's own for working copies. Only those
// that change something keep it below the root, which others may not write to.
func (s *Session) workFolder(why Need) (string, error) {
	parent, own := os.TempDir(), "@"+s.Provider.Name+"-"+s.Settings.Stack.Text
	if why == ToOperate {
		parent = s.Folder.Work()
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return "", s.FolderError(err)
		}
		s.ignoreInGit()
		if err := removeStale(parent, own); err != nil {
			return "", s.FolderError(err)
		}
	}
	work, err := os.MkdirTemp(parent, workPrefix+"*"+own)
	if err != nil {
		return "", s.FolderError(err)
	}
	s.closers = append(s.closers, func() error { return os.RemoveAll(work) })
	return work, s.makeStateFolder(why)
}

// workPrefix begins the names of folders for working copies; they end with @
// and the environment.
const workPrefix = "run-"

// removeStale removes what runs of this environment have left that were killed.
// Its lock is held, so none of them still works there.
func removeStale(parent, ending string) error {
	entries, err := os.ReadDir(parent)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), workPrefix) && strings.HasSuffix(entry.Name(), ending) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(parent, entry.Name())))
		}
	}
	return err
}

// ignoreInGit keeps .runner out of the user's repository. That it cannot be
// written is no reason to stop.
func (s *Session) ignoreInGit() {
	file := layout.Of(s.Settings.Root, false).GitIgnore()
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		_ = os.WriteFile(file, []byte("*\n"), 0o644)
	}
}

// makeStateFolder makes the folder of a file backend, which Pulumi demands.
func (s *Session) makeStateFolder(why Need) error {
	folder, ok := s.StateFolder()
	if !ok || why != ToOperate {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return s.FolderError(err)
	}
	return nil
}

// StateFolder is the folder of a file backend.
func (s *Session) StateFolder() (string, bool) { return s.Settings.StateFolder() }

// HasState is false when nothing can have been deployed yet.
func (s *Session) HasState() bool {
	folder, ok := s.StateFolder()
	if !ok {
		return true
	}
	_, err := os.Stat(layout.State(folder).Pulumi())
	return err == nil
}
