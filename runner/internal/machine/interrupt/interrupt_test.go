package interrupt

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
)

// levels reports which levels the signals have reached.
func levels(l *Levels, stop <-chan struct{}) (stopped, cancelled, killed bool) {
	select {
	case <-stop:
		stopped = true
	default:
	}
	select {
	case <-l.Killed():
		killed = true
	default:
	}
	return stopped, errors.Is(context.Cause(l.Context()), ErrInterrupted), killed
}

func TestLevels(t *testing.T) {
	t.Parallel()
	type seen struct{ stopped, cancelled, killed bool }
	for _, test := range []struct {
		name    string
		gentle  bool
		signals []os.Signal
		want    seen
	}{
		{"nothing", true, nil, seen{}},
		{"one Ctrl-C", true, []os.Signal{os.Interrupt}, seen{stopped: true}},
		{"two", true, []os.Signal{os.Interrupt, os.Interrupt}, seen{stopped: true, cancelled: true}},
		{"three", true, []os.Signal{os.Interrupt, os.Interrupt, os.Interrupt}, seen{true, true, true}},
		{"four", true, []os.Signal{os.Interrupt, os.Interrupt, os.Interrupt, os.Interrupt}, seen{true, true, true}},
		{"SIGTERM", true, []os.Signal{syscall.SIGTERM}, seen{stopped: true, cancelled: true}},
		{"Ctrl-C, then SIGTERM", true, []os.Signal{os.Interrupt, syscall.SIGTERM}, seen{stopped: true, cancelled: true}},
		{"SIGHUP", true, []os.Signal{syscall.SIGHUP}, seen{stopped: true, cancelled: true}},
		{"SIGHUP from the shell and the kernel", true, []os.Signal{syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP}, seen{stopped: true, cancelled: true}},
		{"SIGHUP with nothing gentle", false, []os.Signal{syscall.SIGHUP, syscall.SIGHUP}, seen{cancelled: true}},
		{"SIGHUP after the third", true, []os.Signal{os.Interrupt, os.Interrupt, os.Interrupt, syscall.SIGHUP, os.Interrupt}, seen{true, true, true}},
		{"one Ctrl-C with nothing gentle", false, []os.Signal{os.Interrupt}, seen{cancelled: true}},
		{"two with nothing gentle", false, []os.Signal{os.Interrupt, os.Interrupt}, seen{cancelled: true, killed: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := Watch(t.Context(), nil)
			var stop <-chan struct{}
			if test.gentle {
				stop, _ = l.Gentle()
			}
			for _, signal := range test.signals {
				l.receive(signal)
			}
			var got seen
			got.stopped, got.cancelled, got.killed = levels(l, stop)
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestGentleAfterASignal(t *testing.T) {
	t.Parallel()
	l := Watch(t.Context(), nil)
	_, release := l.Gentle()
	l.receive(os.Interrupt)
	release()
	stop, _ := l.Gentle()
	if stopped, cancelled, _ := levels(l, stop); !stopped || cancelled {
		t.Errorf("work that starts after the first Ctrl-C: stopped %v, cancelled %v; want only stopped", stopped, cancelled)
	}
}

func TestWatchReceives(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal)
	l := Watch(t.Context(), signals)
	signals <- os.Interrupt
	<-l.Context().Done()
	close(signals)
}
