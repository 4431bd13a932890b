package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Directory holds the configuration, below the root.
const Directory = "config/pulumi"

// NoRootError says that no directory with a configuration was found.
type NoRootError struct{ Start string }

// Error names the directory where the search began.
func (e *NoRootError) Error() string {
	return fmt.Sprintf("no directory with %s here (%s) or above, and none with %s", Directory, e.Start, MaraFile)
}

// NextStep names the command that creates a root.
func (e *NoRootError) NextStep() string {
	return "make one with `runner init`, or name it with --root or RUNNER_ROOT"
}

// FindRoot finds the root: the named directory, or else the nearest one, from dir upward, that
// holds config/pulumi or mara.yaml. It returns a NoRootError if there is none.
func FindRoot(dir string, named Value) (string, error) {
	if named.IsSet() {
		return namedRoot(dir, named)
	}
	for directory := filepath.Clean(dir); ; directory = filepath.Dir(directory) {
		if isRoot(directory) {
			return directory, nil
		}
		if directory == filepath.Dir(directory) {
			return "", &NoRootError{Start: dir}
		}
	}
}

func namedRoot(dir string, named Value) (string, error) {
	root := named.Text
	if !filepath.IsAbs(root) {
		root = filepath.Join(dir, root)
	}
	_, err := os.Stat(root)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", named.Wrong(fmt.Sprintf("the directory %s does not exist", root), "")
	case err != nil:
		return "", named.Wrong(reason(err), "")
	case !isRoot(root):
		return "", named.Wrong(fmt.Sprintf("%s has neither a directory %s nor a file %s", root, Directory, MaraFile),
			fmt.Sprintf("make one with `runner init %s`", named.Text))
	}
	return filepath.Clean(root), nil
}

// isRoot reports whether a directory has a configuration, or only own projects.
func isRoot(directory string) bool {
	info, err := os.Stat(filepath.Join(directory, MaraFile))
	hasMara := err == nil && info.Mode().IsRegular()
	return hasMara || isDir(filepath.Join(directory, Directory)) || isDir(filepath.Join(directory, EnvironmentsDir))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// reason returns the cause of a file error without the call and the path, which the caller
// shows in its own way.
func reason(err error) string {
	if failed, ok := errors.AsType[*os.PathError](err); ok {
		return failed.Err.Error()
	}
	return err.Error()
}
