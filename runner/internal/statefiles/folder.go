// Package statefiles knows the files in which a file backend of Pulumi's keeps
// the states of an environment. It finds states that were cut off and restores
// them, and it guards them against a full disk while Pulumi writes.
package statefiles

import (
	"encoding/json"
	"os"

	"mara/runner/internal/layout"
)

// Folder is the folder of a file backend. The zero Folder is another kind of
// backend, which has no files.
type Folder struct {
	Path  string
	Stack string // the name of the environment's stacks
}

// IsFile reports whether the backend keeps files.
func (f Folder) IsFile() bool { return f.Path != "" }

// MayHaveStates is false when nothing can have been deployed yet.
func (f Folder) MayHaveStates() bool {
	if !f.IsFile() {
		return true
	}
	_, err := os.Stat(f.files().Pulumi())
	return err == nil
}

// Make makes the folder, without which Pulumi refuses to work.
func (f Folder) Make() error {
	if !f.IsFile() {
		return nil
	}
	return os.MkdirAll(f.Path, 0o700)
}

func (f Folder) files() layout.State { return layout.State(f.Path) }

// state is the file with the state of a project.
func (f Folder) state(project string) string {
	return f.files().Stack(project, f.Stack)
}

// isWhole reports whether a file is JSON to its end.
func isWhole(file string) bool {
	content, err := os.ReadFile(file)
	return err == nil && json.Valid(content)
}
