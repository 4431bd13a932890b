package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/event"
	"mara/runner/internal/ui/uitest"
)

// compositor is a live view whose clock and terminal are those of a test.
func compositor(o LiveOptions) *Live {
	l := NewLive(&strings.Builder{}, o)
	l.Close()
	return l
}

// emitUntil feeds the events up to a moment of the run and returns the rest.
func emitUntil(l *Live, events []event.Event, at time.Duration) []event.Event {
	for len(events) > 0 && !events[0].Time.After(uitest.Began.Add(at)) {
		l.Emit(events[0])
		events = events[1:]
	}
	return events
}

func estimates(s uitest.Script) map[string]Estimate {
	var summary event.Summary
	for _, e := range uitest.Play(s) {
		summary.Apply(e)
	}
	return Estimates(s.Operation, s.Provider, "dev", []*event.Summary{&summary})
}

func TestShow(t *testing.T) {
	if os.Getenv("SHOW") == "" {
		t.Skip()
	}
	for _, w := range []int{40, 80, 200} {
		events := uitest.Play(uitest.AWSFailure())
		l := compositor(LiveOptions{Estimates: estimates(uitest.AWS())})
		for _, at := range []time.Duration{300 * time.Millisecond, 100 * time.Second, 860 * time.Second, 900 * time.Second, 3000 * time.Second} {
			events = emitUntil(l, events, at)
			text, frame := l.compose(uitest.Began.Add(at), w, 30)
			fmt.Printf("---- %d at %v\n%s%s\n", w, at, text, strings.Join(frame, "\n"))
		}
	}
}

var _ = filepath.Join
