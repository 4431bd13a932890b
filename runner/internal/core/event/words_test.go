package event_test

import (
	"testing"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	tests := map[time.Duration]string{
		0:                                       "0.0s",
		40 * time.Millisecond:                   "0.0s",
		1240 * time.Millisecond:                 "1.2s",
		59940 * time.Millisecond:                "59.9s",
		59960 * time.Millisecond:                "1m00s",
		3*time.Minute + 5*time.Second:           "3m05s",
		59*time.Minute + 59600*time.Millisecond: "1h00m",
		62*time.Minute + 31*time.Second:         "1h03m",
		26 * time.Hour:                          "26h00m",
	}
	for in, want := range tests {
		if got := event.FormatDuration(in); got != want {
			t.Errorf("%v: got %s, want %s", in, got, want)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	tests := map[event.Changes]string{
		{}:        "no changes",
		{Same: 9}: "no changes",
		{Create: 1, Update: 2, Replace: 3, Delete: 4}: "+1 ~2 ±3 -4",
		{Delete: 4, Same: 1}:                          "-4",
	}
	for in, want := range tests {
		if got := in.String(); got != want {
			t.Errorf("%+v: got %s, want %s", in, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	all := event.Changes{Create: 1, Update: 2, Replace: 3, Delete: 4, Same: 5}
	tests := map[string]struct{ got, want string }{
		"up":         {all.Words(operation.Up), "1 created, 2 updated, 3 replaced, 4 deleted"},
		"preview":    {all.Words(operation.Preview), "1 to create, 2 to update, 3 to replace, 4 to delete"},
		"nothing":    {event.Changes{Same: 1}.Words(operation.Up), "no changes"},
		"results":    {event.Results{Succeeded: 1, Failed: 2, Skipped: 3, Cancelled: 4}.String(), "1 succeeded, 2 failed, 3 skipped, 4 cancelled"},
		"no results": {event.Results{}.String(), "no projects"},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", name, tt.got, tt.want)
		}
	}
}

// TestFound: a drift has one vocabulary, for single resources and for counts.
func TestFound(t *testing.T) {
	t.Parallel()
	for action, changes := range map[event.Action]event.Changes{
		event.Create: {Create: 1}, event.Update: {Update: 1}, event.Replace: {Replace: 1}, event.Delete: {Delete: 1},
	} {
		if want := "1 " + action.Found(); changes.Words(operation.Drift) != want {
			t.Errorf("a resource is %q, and the count says %q", want, changes.Words(operation.Drift))
		}
	}
}
