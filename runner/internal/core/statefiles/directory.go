// Package statefiles knows the files in which a file backend of Pulumi's keeps
// the states of an environment. It finds states that were cut off and restores
// them, and it guards them against a full disk while Pulumi writes.
package statefiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/projects/model"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// Directory is the directory of a file backend. The zero Directory is another kind of
// backend, which has no files.
type Directory struct {
	Path  string
	Stack string           // the name of the environment, and of its stacks
	Names model.StackNames // of projects whose stacks are not named as the environment
	// Elsewhere are the directories of projects with another backend. Their own Elsewhere is empty.
	Elsewhere map[string]Directory
}

// Of returns the directory with the state of a project.
func (f Directory) Of(project string) Directory {
	if other, ok := f.Elsewhere[project]; ok {
		return other
	}
	return f
}

// each returns the directory and those elsewhere, without these.
func (f Directory) each() []Directory {
	all := []Directory{{Path: f.Path, Stack: f.Stack, Names: f.Names}}
	for _, project := range slices.Sorted(maps.Keys(f.Elsewhere)) {
		other := f.Elsewhere[project]
		if !slices.ContainsFunc(all, func(one Directory) bool { return one.Path == other.Path }) {
			all = append(all, other)
		}
	}
	return all
}

// IsFile reports whether the backend keeps files: each backend, where projects have several.
func (f Directory) IsFile() bool {
	return !slices.ContainsFunc(f.each(), func(one Directory) bool { return one.Path == "" })
}

// MayHaveStates reports whether something may be deployed. A directory that cannot
// be read may have states.
func (f Directory) MayHaveStates() bool {
	return slices.ContainsFunc(f.each(), func(one Directory) bool {
		if one.Path == "" {
			return true
		}
		_, err := os.Stat(one.files().Pulumi())
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// HasOldLayout reports whether the states are where Pulumi had them before 2023, next to the directories of projects: it
// no longer reads them, and says so when it is asked.
func (f Directory) HasOldLayout() bool {
	return slices.ContainsFunc(f.each(), Directory.hasOldLayout)
}

func (f Directory) hasOldLayout() bool {
	if _, err := os.Stat(filepath.Join(f.files().Pulumi(), "meta.yaml")); !f.IsFile() || err == nil {
		return false
	}
	entries, _ := readDirectory(f.files().Stacks()) // other code reports what cannot be read
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Type().IsRegular() && strings.Contains(e.Name(), ".json")
	})
}

// CommandEnv returns the process environment of Pulumi's commands. It keeps them
// from looking for states in an old layout if there are none: they would walk over
// all files of the backend.
func (f Directory) CommandEnv(env map[string]string) map[string]string {
	env = maps.Clone(env)
	if !f.HasLegacy() {
		env["PULUMI_DIY_BACKEND_NO_LEGACY_WARNING"] = "true"
	}
	return env
}

// HasLegacy reports whether there may be states from before stacks belonged to
// projects, which Pulumi tells of. It looks for them among the files of all stacks,
// before each command.
func (f Directory) HasLegacy() bool { return slices.ContainsFunc(f.each(), Directory.hasLegacy) }

func (f Directory) hasLegacy() bool {
	if !f.IsFile() {
		return true
	}
	entries, err := os.ReadDir(f.files().Stacks())
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return !entry.IsDir() }) ||
		err != nil && !errors.Is(err, fs.ErrNotExist)
}

// HasJournal reports whether there is a journal of an operation on a project that goes on or was cut off. Copies of journals
// that were dropped do not count.
func (f Directory) HasJournal(project string) bool {
	f = f.Of(project)
	if !f.IsFile() {
		return false
	}
	dir := f.files().Journals(project, f.stackOf(project))
	entries, _ := os.ReadDir(dir) // other code reports what cannot be read
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		_, err := os.Stat(filepath.Join(dir, entry.Name(), "journal"))
		return err == nil
	})
}

// Make makes the directory, without which Pulumi refuses to work. One of projects elsewhere that cannot be made is the
// error of these projects, which the list of stacks reports.
func (f Directory) Make() error {
	for _, other := range f.Elsewhere {
		if other.IsFile() {
			_ = os.MkdirAll(other.Path, 0o700)
		}
	}
	if f.Path == "" {
		return nil
	}
	return os.MkdirAll(f.Path, 0o700)
}

// files returns the layout of the directory; a method about a project asks Of(project) for its directory before.
func (f Directory) files() layout.State { return layout.State(f.Path) }

// stackOf returns the name of a project's stack.
func (f Directory) stackOf(project string) string { return f.Names.Of(project, f.Stack) }

// Read reads the state of a project as Pulumi exports it, without what is around
// it; nil if it has none.
func (f Directory) Read(project string) (json.RawMessage, error) {
	file := f.state(project)
	content, err := readState(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if _, isCutOff := errors.AsType[*cutOffError](err); isCutOff {
		return nil, err
	}
	if err != nil {
		return nil, unreadable(err)
	}
	var stored struct {
		Checkpoint struct {
			Latest json.RawMessage `json:"latest"`
		} `json:"checkpoint"`
	}
	if json.Unmarshal(content, &stored) != nil {
		return nil, &cutOffError{file, "is not valid JSON"}
	}
	return stored.Checkpoint.Latest, nil
}

// lagMark is in the manifest, at the beginning, of a state that lags behind the journal of an operation.
const lagMark = `"magic":"mara-journal `

// Lags reports whether a state, as Read returns it, lags behind the journal of an operation, which goes on or was cut
// off. The engine reads both: `stack export` of mara-engine returns the state with what is in the journal.
func Lags(state json.RawMessage) bool {
	const beginning = 1 << 10
	return bytes.Contains(state[:min(len(state), beginning)], []byte(lagMark))
}

// unreadable returns the error for a file or directory of states that cannot be
// read.
func unreadable(err error) error {
	return &failure.Environment{
		Text: fmt.Sprintf("the states cannot be read: %v", err),
		Next: "what is deployed is not known until they can be; check owner and permissions, for example after a run " +
			"with sudo",
	}
}

// ReadAll reads the states in the directory, as Read does, by environment and then by
// project. wanted chooses from the projects that have a stack there.
func (f Directory) ReadAll(wanted func(environment string,
	projects []string) []string) (map[string]map[string]json.RawMessage, error) {
	found := map[string][]string{}
	for _, one := range f.each() {
		listed, err := one.list()
		if err != nil {
			return nil, err
		}
		for project, stacks := range listed { // where it is not, it is a copy that was left behind
			if _, known := found[project]; !known && f.Of(project).Path == one.Path {
				found[project] = stacks
			}
		}
	}
	var err error
	deployed := map[string][]string{}
	for _, project := range slices.Sorted(maps.Keys(found)) {
		for _, stack := range found[project] {
			if environment, ok := f.Names.Environment(project, stack); ok {
				deployed[environment] = append(deployed[environment], project)
			}
		}
	}
	states := map[string]map[string]json.RawMessage{}
	for stack, names := range deployed {
		if names = wanted(stack, names); len(names) == 0 {
			continue
		}
		states[stack] = map[string]json.RawMessage{}
		for _, project := range names {
			if states[stack][project], err = (Directory{Path: f.Of(project).Path, Stack: stack, Names: f.Names}).Read(project); err != nil {
				return nil, fmt.Errorf("reading the state of %s: %w", project, err)
			}
		}
	}
	return states, nil
}

// Salt returns the salt of the passphrase that the states of projects are encrypted
// with, "" if there is none. It skips states that were cut off, which the run that
// needs them reports; one that cannot be read at all is an error.
func (f Directory) Salt(projects []string) (string, error) {
	for _, project := range projects {
		latest, err := f.Read(project)
		if _, isCutOff := errors.AsType[*cutOffError](err); err != nil && !isCutOff {
			return "", err
		}
		var state struct {
			Provider struct {
				State struct{ Salt string } `json:"state"`
			} `json:"secrets_providers"`
		}
		if latest != nil && json.Unmarshal(latest, &state) == nil && state.Provider.State.Salt != "" {
			return state.Provider.State.Salt, nil
		}
	}
	return "", nil
}
