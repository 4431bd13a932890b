package ui

import (
	"io"
	"strings"
	"sync"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// TickRate is how often the live view is usually painted.
const TickRate = 100 * time.Millisecond

// Live shows a run on a terminal: a frame that is painted again and again,
// warnings and failures scrolling above it, and at the end the same words that
// Plain ends with.
//
// One goroutine owns the terminal. It neither reads from it nor asks it
// anything. Emit only takes notes, so that a terminal which is held does not
// hold up whoever else listens to the run.
type Live struct {
	o      Options
	digits int    // of the numbers of resources
	screen screen // owned by the painting goroutine, after it by Close
	stop   chan struct{}
	ended  chan struct{}
	pause  chan func() // what needs the terminal for itself

	mu    sync.Mutex      // guards what follows
	text  *Plain          // renders what stays above the frame
	above strings.Builder // where it does
	doing activities
	now   time.Time // of the last tick; only the painting goroutine sets it
}

// NewLive starts a live view on the terminal w. The caller must Close it.
func NewLive(w io.Writer, o Options) *Live {
	l := &Live{o: o, screen: screen{out: printer{w: w}}, digits: digits(o.Resources), stop: make(chan struct{}),
		ended: make(chan struct{}), pause: make(chan func()), doing: activities{}}
	width, _ := l.size()
	l.text = NewPlain(&l.above, Options{Width: width, Colour: o.Colour, List: o.List, Why: o.Why, Next: o.Next})
	l.text.inLive = true
	go l.paintUntilStopped()
	return l
}

// size returns the size of the terminal, or the default.
func (l *Live) size() (width, height int) {
	if l.o.Size != nil {
		width, height = l.o.Size()
	}
	if width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// Emit takes note of an event.
func (l *Live) Emit(e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doing.apply(e)
	if !staysAbove(e) {
		l.text.summary.Apply(e)
		return
	}
	l.text.Emit(e)
	if e.Type == event.StepFinished {
		l.text.cause(e.Project)
	}
}

// staysAbove tells what is written above the frame from what only changes it.
func staysAbove(e event.Event) bool {
	switch e.Type {
	case event.StepStarted, event.StepProgress, event.HookStarted:
		return false
	case event.StepFinished:
		return e.Result == event.Failed
	default:
		return true
	}
}

// cause prints how the first error of a step begins. All of it comes at the end.
func (p *Plain) cause(project string) {
	const most = 160
	step, _ := p.summary.Step(project)
	if step == nil {
		return
	}
	if errs := step.Errors(); len(errs) > 0 {
		p.line("  "+typeset.Cut(oneLine(errs[0]), most, "…"), 4, p.paint.red)
	}
}

// oneLine returns a diagnostic on a single line, its resource first.
func oneLine(d event.Diagnostic) string {
	d.Message = strings.Join(strings.Fields(d.Message), " ")
	return d.Text(": ")
}

func (l *Live) paintUntilStopped() {
	defer close(l.ended)
	for {
		select {
		case <-l.stop:
			return
		case now := <-l.o.Ticks:
			l.paint(now)
		case ask := <-l.pause:
			l.clear()
			ask()
		}
	}
}

// Suspend removes the frame, and calls ask while nothing is painted. The frame is
// painted again with the next tick. After Close it only calls ask.
func (l *Live) Suspend(ask func()) {
	asked := make(chan struct{})
	select {
	case l.pause <- func() { defer close(asked); ask() }:
		<-asked
	case <-l.ended:
		ask()
	}
}

// clear writes what stays above the frame, without the frame.
func (l *Live) clear() {
	width, height := l.size()
	text, _ := l.compose(l.now, width, height)
	l.screen.paint(text, nil, width)
}

// paint brings the terminal up to date. It writes without holding the lock.
func (l *Live) paint(now time.Time) {
	width, height := l.size()
	text, lines := l.compose(now, width, height)
	l.screen.paint(text, lines, width)
}

// compose takes what is to stay above the frame, and draws the frame.
func (l *Live) compose(now time.Time, width, height int) (text string, lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	l.text.o.Width = width
	text = l.above.String()
	l.above.Reset()
	s := &l.text.summary
	if s.Operation == "" || s.Result != "" {
		return text, nil // not yet begun, or over
	}
	return text, frame{
		summary: s, doing: l.doing, durations: l.o.Durations, resources: l.o.Resources, ready: l.o.Ready,
		paint: palette{on: l.o.Colour}, glyphs: newGlyphs(l.o.ASCII),
		now: now, width: min(width, widest), height: height, digits: l.digits,
	}.render()
}

// Close paints a last time and leaves the terminal. A run that has ended leaves
// its summary; of one that was broken off the last frame remains. It may be
// called again.
func (l *Live) Close() error {
	select {
	case <-l.stop:
		return l.screen.out.err
	default:
	}
	close(l.stop)
	<-l.ended
	l.paint(l.now)
	l.screen.leave()
	return l.screen.out.err
}
