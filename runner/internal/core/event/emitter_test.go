package event_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
)

// sinkFunc makes a function a sink.
type sinkFunc func(event.Event)

func (f sinkFunc) Emit(e event.Event) { f(e) }

func TestEmitterStampsAndMasks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 20, 30, 0, 0, time.FixedZone("CET", 3600))
	var got []event.Event
	m := event.NewEmitter(event.EmitterOptions{
		Run: "r1", Masker: event.NewMasker("hunter2"), Now: func() time.Time { return now },
		Sinks: []event.Sink{sinkFunc(func(e event.Event) { got = append(got, e) })},
	})
	earlier := now.Add(-time.Hour).UTC()
	m.Emit(event.Event{Type: event.StepLog, Message: "it is hunter2"})
	m.Emit(event.Event{Type: event.StepLog, Time: earlier})
	m.Close()
	want := []event.Event{
		{Run: "r1", Type: event.StepLog, Time: now.UTC(), Message: "it is [secret]"},
		{Run: "r1", Type: event.StepLog, Time: earlier},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEmitterKeepsOrderAndDropsNothing(t *testing.T) {
	t.Parallel()
	const senders, each = 8, 500
	next := make(map[string]int)
	var first, second int
	m := event.NewEmitter(event.EmitterOptions{Sinks: []event.Sink{
		sinkFunc(func(e event.Event) {
			if e.Message != fmt.Sprint(next[e.Project]) {
				t.Errorf("%s: got %s, want %d", e.Project, e.Message, next[e.Project])
			}
			next[e.Project]++
			first++
		}),
		sinkFunc(func(event.Event) {
			second++
			if first != second {
				t.Errorf("second sink saw event %d after the first had seen %d", second, first)
			}
		}),
	}})
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				m.Emit(event.Event{Type: event.StepLog, Project: fmt.Sprint(s), Message: fmt.Sprint(i)})
			}
		})
	}
	wg.Wait()
	m.Close()
	if second != senders*each {
		t.Errorf("delivered %d events, want %d", second, senders*each)
	}
}

func TestEmitterNeverBlocksTheSender(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	n := 0
	m := event.NewEmitter(event.EmitterOptions{Sinks: []event.Sink{sinkFunc(func(event.Event) {
		<-release
		n++
	})}})
	for range 10_000 {
		m.Emit(event.Event{Type: event.StepLog})
	}
	close(release)
	m.Close()
	if n != 10_000 {
		t.Errorf("delivered %d events", n)
	}
}

func TestEmitterSinkMayEmit(t *testing.T) {
	t.Parallel()
	var got []event.Type
	var m *event.Emitter
	ready := make(chan struct{})
	m = event.NewEmitter(event.EmitterOptions{Sinks: []event.Sink{sinkFunc(func(e event.Event) {
		<-ready
		got = append(got, e.Type)
		if e.Type == event.RunFinished {
			m.Emit(event.Event{Type: event.RunWarning})
		}
	})}})
	close(ready)
	m.Emit(event.Event{Type: event.RunFinished})
	m.Close()
	m.Close() // twice is fine
	m.Emit(event.Event{Type: event.StepLog})
	if diff := cmp.Diff([]event.Type{event.RunFinished, event.RunWarning}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
