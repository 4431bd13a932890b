package event

import (
	"strings"
	"testing"
)

func TestDebugLog(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	NewMasker(`swordfish "9"`).DebugLog(&said, true).Debug("pulumi begins", "args", `stack output --of=swordfish "9"`)
	if got := said.String(); strings.Contains(got, "swordfish") || !strings.Contains(got, `args="stack output --of=[secret]"`) {
		t.Errorf("said %s", got)
	}
}

func TestNoDebugLog(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	NewMasker().DebugLog(&said, false).Debug("something")
	if said.Len() > 0 {
		t.Errorf("said %q", &said)
	}
}
