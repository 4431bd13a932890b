package session

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"mara/runner/internal/layout"
)

// keptEnd is the end of the name of a state that the guard has kept. Pulumi reads
// no files with such a name.
const keptEnd = ".before"

// guardInterval is well below the half minute for which Pulumi tries again to
// write a state.
const guardInterval = 500 * time.Millisecond

// stateGuard looks after the states when Pulumi cannot write them, as on a full
// disk. It makes room there, which mostly does; and where Pulumi cuts a state off
// it keeps the last whole one. Pulumi tries again for a while, and then copies
// what is cut off over the state before it: nothing whole would be left.
type stateGuard struct {
	files   []string // of the states
	looked  map[string]time.Time
	reserve *reserve
	warn    func(text string)
}

// guardStates looks after the states until the session closes. All of them are
// whole now.
func (s *Session) guardStates() {
	folder, isFile := s.StateFolder()
	if !isFile {
		return
	}
	guard := stateGuard{looked: map[string]time.Time{}, warn: s.warn}
	var err error
	if guard.reserve, err = takeReserve(folder, reserveSize); err != nil {
		s.log.Debug("no room is kept for the states", "error", err)
	}
	for _, step := range s.Plan.Steps {
		guard.files = append(guard.files, s.stateFile(step.Project.Name))
	}
	guard.forget()
	stop := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		ticker := time.NewTicker(guardInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				guard.look()
			case <-stop:
				return
			}
		}
	})
	s.closers = append(s.closers, func() error {
		close(stop)
		looking.Wait()
		guard.reserve.giveUp()
		return nil
	})
}

// forget removes what was kept for states that are whole again.
func (g *stateGuard) forget() {
	for _, file := range g.files {
		_ = os.Remove(file + keptEnd)
	}
}

// look looks at the disk, and at the states that have changed.
func (g *stateGuard) look() {
	if g.reserve.isWanted() && g.reserve.giveUp() {
		g.warn(fmt.Sprintf("the disk of %s is full; the %d MiB that were kept for the states are given up: free some space", g.reserve.folder, reserveSize>>20))
		g.reserve = nil
	}
	for _, file := range g.files {
		info, err := os.Stat(file)
		if err != nil || info.ModTime().Equal(g.looked[file]) {
			continue
		}
		g.looked[file] = info.ModTime()
		if content, err := os.ReadFile(file); err == nil && !json.Valid(content) {
			keep(file)
		}
	}
}

// keep keeps the state before one that is cut off. A link takes no room, of
// which there is none, and remains when Pulumi replaces the file. What was kept
// when the state was cut off the last time is older.
func keep(file string) {
	if !isWhole(file + ".bak") {
		return
	}
	_ = os.Remove(file + keptEnd)
	if err := os.Link(file+".bak", file+keptEnd); err == nil && !isWhole(file+keptEnd) {
		_ = os.Remove(file + keptEnd) // it was replaced in between
	}
}

// isWhole says whether a file is JSON to its end.
func isWhole(file string) bool {
	content, err := os.ReadFile(file)
	return err == nil && json.Valid(content)
}

// stateFile is the file with the state of a project, in a file backend.
func (s *Session) stateFile(project string) string {
	folder, _ := s.StateFolder()
	return layout.State(folder).Stack(project, s.Settings.Stack.Text)
}
