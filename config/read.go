package config

import (
	"errors"
	"io/fs"
	"path/filepath"

	"mara/config/files"
)

// readOptional reads a file below root that may be missing. name is its path, also in
// messages.
func readOptional(root, name string) (data []byte, exists bool, err error) {
	data, err = readFile(filepath.Join(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, true, fileError(name, err)
}

// fileError wraps an error about a file or directory; nil stays nil.
func fileError(name string, err error) error {
	if err == nil {
		return nil
	}
	return problemsError(Problem{File: name, Text: reason(err)})
}

// readFile reads a file that the user wrote.
func readFile(path string) ([]byte, error) { return files.ReadCommitted(path, files.Text) }
