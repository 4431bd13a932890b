package statefiles

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// guardedEnd ends the name of a state that the guard has kept. Pulumi reads no
// files with such a name.
const guardedEnd = ".before"

// guardInterval is well below the half minute for which Pulumi tries again to
// write a state.
const guardInterval = 500 * time.Millisecond

// guard watches the states for a full disk. It gives up its reserve, which
// mostly leaves room enough to write them. Where Pulumi cuts a state off all the
// same, the guard keeps the last whole one: Pulumi tries again for a while and
// then copies the broken state over the one before it.
type guard struct {
	files   []string // of the states
	looked  map[string]time.Time
	reserve *reserve
	warn    func(text string)
}

// Guard guards the states of projects until stop is called. All of them are
// whole when it begins.
func (f Directory) Guard(projects []string, warn func(text string), log *slog.Logger) (stop func() error) {
	g := guard{looked: map[string]time.Time{}, warn: warn}
	for _, project := range projects {
		if f.Of(project).IsFile() {
			g.files = append(g.files, f.variants(project)...)
		}
	}
	if f.Path == "" && len(g.files) == 0 {
		return func() error { return nil }
	}
	if f.Path != "" {
		var err error
		if g.reserve, err = takeReserve(f.Path, reserveSize); err != nil {
			log.Debug("no room is reserved for the states", "error", err)
		}
	}
	g.forget()
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		ticker := time.NewTicker(guardInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				g.look()
			case <-done:
				return
			}
		}
	})
	return func() error {
		close(done)
		looking.Wait()
		g.reserve.giveUp()
		return nil
	}
}

// forget removes what was kept for states that are whole again.
func (g *guard) forget() {
	for _, file := range g.files {
		_ = os.Remove(file + guardedEnd)
	}
}

// look looks at the disk, and at the states that have changed.
func (g *guard) look() {
	if g.reserve.isWanted() && g.reserve.giveUp() {
		g.warn(fmt.Sprintf("the disk of %s is full; the %d MiB that were kept for the states are given up: free some "+
			"space", g.reserve.dir, reserveSize>>20))
		g.reserve = nil
	}
	for _, file := range g.files {
		info, err := os.Stat(file)
		if err != nil || info.ModTime().Equal(g.looked[file]) {
			continue
		}
		cutOff, err := isCutOff(file)
		if err != nil {
			continue // it looks again
		}
		g.looked[file] = info.ModTime()
		if cutOff {
			keep(file)
		}
	}
}

// keep keeps the state before one that is cut off. It makes a link, which takes
// no room and stays when Pulumi replaces the file.
func keep(file string) {
	if !isWhole(file + ".bak") {
		return
	}
	_ = os.Remove(file + guardedEnd)
	if err := os.Link(file+".bak", file+guardedEnd); err == nil && !isWhole(file+guardedEnd) {
		_ = os.Remove(file + guardedEnd) // Pulumi replaced it in between
	}
}
