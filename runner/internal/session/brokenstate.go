package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mara/config"
	"mara/runner/internal/failure"
)

// brokenState is the state of a project that cannot be read: Pulumi replaces
// the file although it could not write all of the new one, as on a full disk.
type brokenState struct {
	project, file string
}

// brokenStates are the projects of the plan whose state files are no JSON.
// Whoever reads the list of stacks stumbles over them, whichever they are of.
func (s *Session) brokenStates() []brokenState {
	folder, isFile := s.StateFolder()
	if !isFile {
		return nil
	}
	var broken []brokenState
	for _, step := range s.Plan.Steps {
		file := filepath.Join(folder, ".pulumi", "stacks", step.Project.Name, s.Settings.Stack.Text+".json")
		if content, err := os.ReadFile(file); err == nil && !json.Valid(content) {
			broken = append(broken, brokenState{step.Project.Name, file})
		}
	}
	return broken
}

// restoreStates puts the state before the one that was cut off in the place of
// each that is broken. What is broken is kept with the backups.
func (s *Session) restoreStates(w io.Writer, broken []brokenState) error {
	backups := filepath.Join(s.Folder, "backups", s.RunID)
	if err := os.MkdirAll(backups, 0o700); err != nil {
		return s.FolderError(err)
	}
	for _, state := range broken {
		before, err := s.stateBefore(state)
		if err != nil {
			return err
		}
		kept := filepath.Join(backups, state.project+".broken.json")
		if err := s.restoreState(state, before, kept); err != nil {
			return s.FolderError(err)
		}
		what := "the one before it is restored"
		if before == nil {
			what = "it was that of a new stack, and is removed"
		}
		fmt.Fprintf(w, "%s: the state was cut off while it was written; %s (the broken one is %s)\n", state.project, what, kept)
	}
	return nil
}

func (s *Session) restoreState(state brokenState, before []byte, kept string) error {
	content, err := os.ReadFile(state.file)
	if err != nil {
		return err
	}
	if err := config.WriteFile(kept, content, 0o600); err != nil {
		return err
	}
	if before == nil {
		return os.Remove(state.file)
	}
	return config.WriteFile(state.file, before, 0o600)
}

// stateBefore is what Pulumi has saved before it wrote the state anew; nil when
// there was nothing before, because the stack was just being made.
func (s *Session) stateBefore(state brokenState) ([]byte, error) {
	content, err := os.ReadFile(state.file + ".bak")
	if err == nil && json.Valid(content) {
		return content, nil
	}
	folder, _ := s.StateFolder()
	history := filepath.Join(folder, ".pulumi", "history", state.project, s.Settings.Stack.Text)
	if _, statErr := os.Stat(history); errors.Is(err, fs.ErrNotExist) && errors.Is(statErr, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, &failure.Environment{
		Text: fmt.Sprintf("the state of %s, %s, is broken, and so is the one before it", state.project, state.file),
		Next: "look for a copy in " + filepath.Join(folder, ".pulumi", "backups", state.project) + ", and put it in its place",
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
	return "the state was cut off while it was written, as on a full disk: " + strings.Join(parts, ", ")
}

// NextStep says how to restore them.
func (e *BrokenStatesError) NextStep() string { return "put it right with `" + e.repair + "`" }
