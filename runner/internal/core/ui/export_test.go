package ui

import (
	"io"
	"strings"
	"time"

	"mara/runner/internal/core/event"
)

// Composed feeds events to a live view until a moment and returns what would
// then be written above the frame since the beginning, and the frame.
func Composed(o Options, events []event.Event, at time.Time, width, height int) (above, frame string) {
	o.Size = func() (int, int) { return width, height }
	o.Ticks = nil
	l := NewLive(io.Discard, o)
	defer func() { _ = l.Close() }()
	for _, e := range events {
		if e.Time.After(at) {
			break
		}
		l.Emit(e)
	}
	above, lines := l.compose(at, width, height)
	return above, strings.Join(lines, "\n") + "\n"
}
