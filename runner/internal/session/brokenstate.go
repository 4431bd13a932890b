package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/runner/internal/atomicfile"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
)

// brokenState is the state of a project that cannot be read: Pulumi replaces
// the file although it could not write all of the new one, as on a full disk.
type brokenState struct {
	project, file string
}

// sidecar is the end of the names of the files in which Pulumi keeps a checksum
// and a content type beside each of its files. It overwrites them in place, so
// that a kill can leave an empty one. Nothing is lost with it: Pulumi does
// without it, and writes it again with the state.
const sidecar = ".attrs"

func (b brokenState) isSidecar() bool { return strings.HasSuffix(b.file, sidecar) }

// onlySidecars says that nothing is lost with what is broken.
func onlySidecars(broken []brokenState) bool {
	return !slices.ContainsFunc(broken, func(b brokenState) bool { return !b.isSidecar() })
}

// brokenStates are the projects of the plan whose state files are no JSON, and
// those of any stack whose sidecars are none: whoever reads the list of stacks
// stumbles over them.
func (s *Session) brokenStates() []brokenState {
	folder, isFile := s.StateFolder()
	if !isFile {
		return nil
	}
	var broken []brokenState
	for _, step := range s.Plan.Steps {
		file := s.stateFile(step.Project.Name)
		if _, err := os.Stat(file); err == nil && !isWhole(file) {
			broken = append(broken, brokenState{step.Project.Name, file})
		}
	}
	return append(broken, brokenSidecars(layout.State(folder).Stacks())...)
}

// brokenSidecars are those in the folders of the projects.
func brokenSidecars(folder string) []brokenState {
	projects, _ := os.ReadDir(folder)
	var broken []brokenState
	for _, project := range projects {
		files, _ := os.ReadDir(filepath.Join(folder, project.Name()))
		for _, entry := range files {
			found := brokenState{project.Name(), filepath.Join(folder, project.Name(), entry.Name())}
			if found.isSidecar() && !isWhole(found.file) {
				broken = append(broken, found)
			}
		}
	}
	return broken
}

// restoreStates puts the state before the one that was cut off in the place of
// each that is broken. What is broken is kept with the backups, but for sidecars.
func (s *Session) restoreStates(w io.Writer, broken []brokenState) error {
	backups := s.Folder.Backups(s.RunID)
	if err := os.MkdirAll(backups, 0o700); err != nil {
		return s.FolderError(err)
	}
	for _, state := range broken {
		told, err := s.restore(state, filepath.Join(backups, state.project+".broken.json"))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n", state.project, told)
	}
	return nil
}

// restore restores one state and tells how.
func (s *Session) restore(state brokenState, kept string) (told string, err error) {
	if state.isSidecar() {
		if err := os.Remove(state.file); err != nil {
			return "", s.FolderError(err)
		}
		return state.file + " was cut off while it was written; it is removed, and Pulumi makes it anew", nil
	}
	before, err := s.stateBefore(state)
	if err != nil {
		return "", err
	}
	if err := replaceState(state, before, kept); err != nil {
		return "", s.FolderError(err)
	}
	what := "the one before it is restored"
	if before == nil {
		what = "it was that of a new stack, and is removed"
	}
	return fmt.Sprintf("the state was cut off while it was written; %s (the broken one is %s)", what, kept), nil
}

func replaceState(state brokenState, before []byte, kept string) error {
	content, err := os.ReadFile(state.file)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(kept, content, 0o600); err != nil {
		return err
	}
	if before == nil {
		return os.Remove(state.file)
	}
	return atomicfile.Write(state.file, before, 0o600)
}

// stateBefore is what Pulumi has saved before it wrote the state anew, or what
// the guard has kept of it; nil when there was nothing before, because the stack
// was just being made.
func (s *Session) stateBefore(state brokenState) ([]byte, error) {
	for _, end := range []string{".bak", keptEnd} {
		if content, err := os.ReadFile(state.file + end); err == nil && json.Valid(content) {
			return content, nil
		}
	}
	folder, _ := s.StateFolder()
	_, err := os.Stat(state.file + ".bak")
	_, historyErr := os.Stat(layout.State(folder).History(state.project, s.Settings.Stack.Text))
	if errors.Is(err, fs.ErrNotExist) && errors.Is(historyErr, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, &failure.Environment{
		Text: fmt.Sprintf("the state of %s, %s, is broken, and so is the one before it", state.project, state.file),
		Next: "look for a copy in " + layout.State(folder).Backups(state.project) + ", and put it in its place",
	}
}

// BrokenStatesError says that states cannot be read.
type BrokenStatesError struct {
	broken []brokenState
	repair string
}

// Error lists the states.
func (e *BrokenStatesError) Error() string {
	var parts []string
	for _, state := range e.broken {
		parts = append(parts, state.project+" ("+state.file+")")
	}
	return "the state was cut off while it was written, as on a full disk or by a kill: " + strings.Join(parts, ", ")
}

// NextStep says how to restore them.
func (e *BrokenStatesError) NextStep() string { return "put it right with `" + e.repair + "`" }
