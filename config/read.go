package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// readFile reads a file that the user wrote. It reports a dangling link as an error, not as a
// missing file, and refuses a pipe, on which it would block forever.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if target, link := os.Readlink(path); link == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("is a link to %s, which does not exist", target)
	}
	if err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		return nil, errors.New("is a pipe, not a file")
	}
	return os.ReadFile(path)
}
