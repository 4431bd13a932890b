package operate

import (
	"errors"
	"strings"
	"testing"

	"mara/runner/internal/core/guard"
	"mara/runner/internal/machine/failure"
)

// TestUnjudged: what keeps a guard from judging is a refusal, which says why and what to do.
func TestUnjudged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		err        error
		want, next string
	}{
		{"refused", &guard.Refused{What: "a rule", Next: "fix it"}, "forbidden by a rule; nothing was changed", "fix it"},
		{
			"unreadable", &failure.Environment{Text: "no prices", Next: "write them"},
			"forbidden by a guard that could not judge the preview: no prices; nothing was changed", "write them",
		},
		{"unknown", errors.New("oh"), "could not judge the preview: oh", ""},
	} {
		err := forbidden(unjudged(test.err))
		refused, ok := errors.AsType[*guard.Refused](err)
		if !ok || !strings.Contains(refused.Error(), test.want) || refused.NextStep() != test.next {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
