// Package atomicfile writes files in one step: after a crash or on a full disk a
// file has its old content or the new one, never half of it. It also reads directories
// of such files while other processes write them.
//
// google/renameio does less and does not build for Windows; natefinch/atomic
// hides the cause of an error, from which the hint for the user is chosen.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mara/config/files"
)

// Write writes a file. An existing file keeps its mode, and a symbolic link stays
// one; mode is for a new file.
func Write(path string, data []byte, mode os.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return Replace(path, data, mode)
}

// WriteDeep writes a file like Write, after creating the missing directories above it
// with the mode directories.
func WriteDeep(path string, data []byte, mode, directories os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), directories); err != nil {
		return err
	}
	return Write(path, data, mode)
}

// Replace writes a new file in place of the file or link at path.
func Replace(path string, data []byte, mode os.FileMode) error {
	return writeAndMove(path, data, mode, os.Rename)
}

// Create writes a file that must not exist yet.
func Create(path string, data []byte, mode os.FileMode) error {
	return writeAndMove(path, data, mode, os.Link) // unlike a rename, a link replaces nothing
}

// writeAndMove writes a temporary file next to path and moves it there.
func writeAndMove(path string, data []byte, mode os.FileMode, move func(from, to string) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, causeOf(err))
	}
	defer os.Remove(temporary.Name())
	if err := fill(temporary, data, mode); err != nil {
		return fmt.Errorf("writing %s: %w", path, causeOf(err))
	}
	if err := move(temporary.Name(), path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	syncDir(filepath.Dir(path))
	return nil
}

// ReplaceDirectory moves a directory to the place of another one, which it removes, and which may be missing. If it
// fails, the old directory stays.
func ReplaceDirectory(directory, made string) error {
	old := made + ".old"
	err := os.Rename(directory, old)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Rename(made, directory)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(made, directory); err != nil {
		return errors.Join(err, os.Rename(old, directory))
	}
	return os.RemoveAll(old)
}

// Remove removes a file, which may be missing.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadDir reads the wanted files of a directory, by name. A missing directory has no
// files, and a file that is removed meanwhile is skipped.
func ReadDir(directory string, isWanted func(name string) bool) (map[string][]byte, error) {
	entries, err := os.ReadDir(directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := map[string][]byte{}
	for _, entry := range entries {
		if entry.IsDir() || !isWanted(entry.Name()) {
			continue
		}
		content, err := files.Read(filepath.Join(directory, entry.Name()), files.Text)
		switch {
		case err == nil:
			found[entry.Name()] = content
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return found, nil
}

// fill writes a file to the disk and closes it.
func fill(file *os.File, data []byte, mode os.FileMode) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// causeOf strips the name of the temporary file from an error.
func causeOf(err error) error {
	if failed, ok := errors.AsType[*os.PathError](err); ok {
		return failed.Err
	}
	return err
}

// syncDir makes the rename durable. Some file systems cannot do that;
// the file is complete either way.
func syncDir(path string) {
	if directory, err := os.Open(path); err == nil {
		_ = directory.Sync()
		_ = directory.Close()
	}
}
