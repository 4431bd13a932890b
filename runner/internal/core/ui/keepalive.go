package ui

import (
	"fmt"
	"strings"
	"time"
)

const (
	// keepAliveEvery is the longest silence while something runs: CI systems
	// end jobs that say nothing, and people begin to wonder.
	keepAliveEvery = 30 * time.Second
	// keepAliveNames is how many projects a line names.
	keepAliveNames = 8
)

// silence measures how long nothing has been printed, to the tick.
type silence struct {
	spoken bool // since the last tick
	since  time.Time
}

// broken records that output was printed.
func (s *silence) broken() { s.spoken = true }

// tooLong reports whether a keep-alive line is due.
func (s *silence) tooLong(now time.Time) bool {
	if s.spoken || s.since.IsZero() {
		s.spoken, s.since = false, now
	}
	return now.Sub(s.since).Round(time.Second) >= keepAliveEvery // ticks come a little early or late
}

func (p *Plain) keepAlive() {
	for {
		select {
		case <-p.stop:
			return
		case now := <-p.o.Ticks:
			p.tick(now)
		}
	}
}

// tick tells what runs if nothing has been printed for long.
func (p *Plain) tick(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	running := p.summary.Running()
	if len(running) == 0 || !p.silence.tooLong(now) {
		return
	}
	p.line("still running after "+seconds(now.Sub(p.summary.Started))+": "+p.stillRunning(running, now), 2, p.paint.dim)
	p.silence = silence{since: now}
}

// stillRunning names projects, since when they run, and what they are doing.
func (p *Plain) stillRunning(running []string, now time.Time) string {
	var parts []string
	for _, name := range running[:min(len(running), keepAliveNames)] {
		step, _ := p.summary.Step(name)
		text := name + " " + seconds(now.Sub(step.Started))
		if doing := p.doing[name].text(true); doing != "" {
			text += " (" + doing + ")"
		}
		parts = append(parts, text)
	}
	if n := len(running) - keepAliveNames; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return strings.Join(parts, ", ")
}
