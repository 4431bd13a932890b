package main

import (
	"testing"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/util/cancel"
)

// TestInterruptsOfARequest plays requests through: b begin, i interrupt, g the
// runner is gone, o an operation begins, e it ends.
func TestInterruptsOfARequest(t *testing.T) {
	t.Parallel()
	const none, cancelled, terminated = "none", "cancelled", "terminated"
	for _, test := range []struct{ name, happens, want string }{
		{"nothing", "bo", none},
		{"one interrupt", "boi", cancelled},
		{"two", "boii", terminated},
		{"before the operation begins", "bio", cancelled},
		{"two before it begins", "biio", cancelled},
		{"before and while", "bioi", terminated},
		{"of the request before", "bibo", none},
		{"of the operation before", "boiebo", none},
		{"of the operation before in the same request", "boieo", cancelled},
		{"too late", "boeibo", none},
		{"the runner is gone", "bog", cancelled},
		{"the runner is gone before", "gbo", cancelled},
		{"interrupted, then gone", "boig", cancelled},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			i := &interrupts{running: map[*cancel.Source]bool{}}
			var operation *cancel.Context
			var end func()
			for _, what := range test.happens {
				switch what {
				case 'b':
					i.begin()
				case 'i':
					i.interrupt()
				case 'g':
					i.abandon(time.Hour, func() {})
				case 'o':
					s := i.NewScope(t.Context(), nil, false)
					operation, end = s.Context(), s.Close
				case 'e':
					end()
				}
			}
			got := none
			switch {
			case operation.TerminateErr() != nil:
				got = terminated
			case operation.CancelErr() != nil:
				got = cancelled
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestAbandoned: what is no operation ends soon after the runner is gone, and an operation has its time.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	exited := make(chan string, 2)
	waiting := &interrupts{running: map[*cancel.Source]bool{}}
	waiting.abandon(time.Millisecond, func() { exited <- "the command that waits" })
	if got := <-exited; got != "the command that waits" {
		t.Errorf("%s exits", got)
	}
	operating := &interrupts{running: map[*cancel.Source]bool{}}
	operation := operating.NewScope(t.Context(), nil, false)
	operating.abandon(time.Millisecond, func() { exited <- "the operation" })
	time.Sleep(50 * time.Millisecond)
	operation.Close()
	select {
	case got := <-exited:
		t.Errorf("%s exits", got)
	default:
	}
}
