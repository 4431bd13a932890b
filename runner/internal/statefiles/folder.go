// Package statefiles knows the files in which a file backend of Pulumi's keeps
// the states of an environment. It finds states that were cut off and restores
// them, and it guards them against a full disk while Pulumi writes.
package statefiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mara/projects"
	"mara/runner/internal/layout"
)

// Folder is the folder of a file backend. The zero Folder is another kind of
// backend, which has no files.
type Folder struct {
	Path  string
	Stack string              // the name of the environment, and of its stacks
	Names projects.StackNames // of those that have names of their own
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

// CommandEnv is the environment of Pulumi's commands. They need not look for
// states in an old layout where there are none: they would walk over all files of the
// backend.
func (f Folder) CommandEnv(env map[string]string) map[string]string {
	env = maps.Clone(env)
	if !f.HasLegacy() {
		env["PULUMI_DIY_BACKEND_NO_LEGACY_WARNING"] = "true"
	}
	return env
}

// HasLegacy reports whether there may be states from before stacks belonged to
// projects, which Pulumi tells of. It looks for them among the files of all stacks,
// before each command.
func (f Folder) HasLegacy() bool {
	if !f.IsFile() {
		return true
	}
	entries, err := os.ReadDir(f.files().Stacks())
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return !entry.IsDir() }) ||
		err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Make makes the folder, without which Pulumi refuses to work.
func (f Folder) Make() error {
	if !f.IsFile() {
		return nil
	}
	return os.MkdirAll(f.Path, 0o700)
}

func (f Folder) files() layout.State { return layout.State(f.Path) }

// stackOf is the name of a project's stack.
func (f Folder) stackOf(project string) string { return f.Names.Of(project, f.Stack) }

// state is the file with the state of a project.
func (f Folder) state(project string) string {
	return f.files().Stack(project, f.stackOf(project))
}

// Read reads the state of a project as Pulumi exports it, without what is around
// it; nil if it has none.
func (f Folder) Read(project string) (json.RawMessage, error) {
	file := f.state(project)
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var stored struct {
		Checkpoint struct {
			Latest json.RawMessage `json:"latest"`
		} `json:"checkpoint"`
	}
	if err := json.Unmarshal(content, &stored); err != nil {
		return nil, fmt.Errorf("%s is not valid JSON; %s.bak is the state before it", file, filepath.Base(file))
	}
	return stored.Checkpoint.Latest, nil
}

// ReadAll reads the states in the folder, as Read does, by environment and then by
// project. wanted chooses from the projects that have a stack there.
func (f Folder) ReadAll(wanted func(environment string, projects []string) []string) (map[string]map[string]json.RawMessage, error) {
	files, err := fs.Glob(os.DirFS(f.files().Stacks()), "*/*.json")
	if err != nil {
		return nil, err
	}
	deployed := map[string][]string{}
	for _, file := range files {
		project := path.Dir(file)
		if environment, ok := f.Names.Environment(project, strings.TrimSuffix(path.Base(file), ".json")); ok {
			deployed[environment] = append(deployed[environment], project)
		}
	}
	states := map[string]map[string]json.RawMessage{}
	for stack, names := range deployed {
		if names = wanted(stack, names); len(names) == 0 {
			continue
		}
		states[stack] = map[string]json.RawMessage{}
		for _, project := range names {
			if states[stack][project], err = (Folder{Path: f.Path, Stack: stack, Names: f.Names}).Read(project); err != nil {
				return nil, fmt.Errorf("reading the state of %s: %w", project, err)
			}
		}
	}
	return states, nil
}

// Salt is the salt of the passphrase that the environment's states are encrypted
// with, "" if there is none. It skips states that cannot be read: whoever needs
// more of them reports that.
func (f Folder) Salt() string {
	folders, _ := os.ReadDir(f.files().Stacks()) // there may be none
	for _, folder := range folders {
		var state struct {
			Provider struct {
				State struct{ Salt string } `json:"state"`
			} `json:"secrets_providers"`
		}
		content, err := f.Read(folder.Name())
		if err == nil && content != nil && json.Unmarshal(content, &state) == nil && state.Provider.State.Salt != "" {
			return state.Provider.State.Salt
		}
	}
	return ""
}

// isWhole reports whether a file is JSON to its end.
func isWhole(file string) bool {
	content, err := os.ReadFile(file)
	return err == nil && json.Valid(content)
}
