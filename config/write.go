package config

import (
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile replaces a file in one step: after a crash or a full disk there is
// either the old content or the new one, never half of it. An existing file
// keeps its mode, a symbolic link stays one; mode is for a new file.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	temporary, err := writeTemporary(path, data, mode)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, causeOf(err))
	}
	if err := os.Rename(temporary, path); err != nil {
		_ = os.Remove(temporary)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// writeTemporary writes data beside path, to be renamed, and leaves nothing
// behind when it cannot.
func writeTemporary(path string, data []byte, mode os.FileMode) (name string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	if _, err := file.Write(data); err != nil {
		return "", err
	}
	if err := file.Chmod(mode); err != nil {
		return "", err
	}
	return file.Name(), file.Sync()
}

// syncFolder makes the rename itself durable. Some file systems cannot do it;
// the file is complete either way.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return nil
	}
	_ = folder.Sync()
	return folder.Close()
}
