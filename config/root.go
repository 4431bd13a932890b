package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Folder holds the configuration, below the root.
const Folder = "config/pulumi"

// NoRootError says that no folder with a configuration was found.
type NoRootError struct{ Start string }

// Error names the folder where the search began.
func (e *NoRootError) Error() string {
	return fmt.Sprintf("no folder with %s here (%s) or above, and none with %s", Folder, e.Start, MaraFile)
}

// NextStep names the command that creates a root.
func (e *NoRootError) NextStep() string {
	return "make one with `runner init`, or name it with --root or RUNNER_ROOT"
}

// FindRoot finds the root: the named folder, or else the nearest one, from dir upward, that
// holds config/pulumi or mara.yaml. It returns a NoRootError if there is none.
func FindRoot(dir string, named Value) (string, error) {
	if named.IsSet() {
		return namedRoot(dir, named)
	}
	for folder := filepath.Clean(dir); ; folder = filepath.Dir(folder) {
		if isRoot(folder) {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
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
		return "", named.Wrong(fmt.Sprintf("the folder %s does not exist", root), "")
	case err != nil:
		return "", named.Wrong(reason(err), "")
	case !isRoot(root):
		return "", named.Wrong(fmt.Sprintf("%s has neither a folder %s nor a file %s", root, Folder, MaraFile),
			fmt.Sprintf("make one with `runner init %s`", named.Text))
	}
	return filepath.Clean(root), nil
}

// isRoot reports whether a folder has a configuration, or only own projects.
func isRoot(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, MaraFile))
	hasMara := err == nil && info.Mode().IsRegular()
	return hasMara || isFolder(filepath.Join(folder, Folder)) || isFolder(filepath.Join(folder, EnvironmentsFolder))
}

func isFolder(path string) bool {
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
