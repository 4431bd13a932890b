package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// readOptional reads a file below root that need not exist. name is its path, also
// in messages.
func readOptional(root, name string) (data []byte, exists bool, err error) {
	data, err = readFile(filepath.Join(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, true, fileError(name, err)
}

// fileError is what has gone wrong with a file or a folder; nil without an error.
func fileError(name string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Problems: []Problem{{File: name, Text: reason(err)}}}
}

// readFile reads a file that the user may have made. A link that leads nowhere
// is a mistake, not a missing file; and a pipe would be waited for forever.
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
