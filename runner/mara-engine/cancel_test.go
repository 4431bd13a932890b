package main

import (
	"testing"

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
					i.abandon()
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
