// Package atomicfile writes files in one step: after a crash or on a full disk
// there is either the old content or the new one, never half of it. It reads folders
// of such files, which others write meanwhile.
//
// google/renameio does less and does not build for Windows; natefinch/atomic
// hides the cause of an error, which decides what users are told to do.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file. A file that exists keeps its mode, and a symbolic link
// stays one; mode is for a new file.
func Write(path string, data []byte, mode os.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return Replace(path, data, mode)
}

// WriteDeep is Write with the folders above the file: those that are missing are
// made with a mode of their own.
func WriteDeep(path string, data []byte, mode, folders os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), folders); err != nil {
		return err
	}
	return Write(path, data, mode)
}

// Replace puts a new file in the place of whatever file or link is there.
func Replace(path string, data []byte, mode os.FileMode) error {
	return put(path, data, mode, os.Rename)
}

// Create writes a file that must not exist yet.
func Create(path string, data []byte, mode os.FileMode) error {
	return put(path, data, mode, os.Link) // unlike a rename, a link replaces nothing
}

// put writes a temporary file beside path and moves it there.
func put(path string, data []byte, mode os.FileMode, move func(from, to string) error) error {
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
	syncFolder(filepath.Dir(path))
	return nil
}

// Remove removes a file, which may be missing.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadFolder reads the files of a folder that are wanted, by name. A folder that is
// missing has none, and those that are removed meanwhile are left out.
func ReadFolder(folder string, isWanted func(name string) bool) (map[string][]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if entry.IsDir() || !isWanted(entry.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		switch {
		case err == nil:
			files[entry.Name()] = content
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return files, nil
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

// causeOf is an error without the name of the temporary file.
func causeOf(err error) error {
	if failed, ok := errors.AsType[*os.PathError](err); ok {
		return failed.Err
	}
	return err
}

// syncFolder makes a rename itself durable. Some file systems cannot do that;
// the file is complete either way.
func syncFolder(path string) {
	if folder, err := os.Open(path); err == nil {
		_ = folder.Sync()
		_ = folder.Close()
	}
}
