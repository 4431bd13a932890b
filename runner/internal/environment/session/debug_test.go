package session

import (
	"strings"
	"testing"

	"mara/runner/internal/run/event"
	"mara/runner/internal/secrets/vault"
)

func TestDebug(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	log := newLog(Deps{Console: vault.Console{Stderr: &said}}, true, event.NewMasker(`swordfish "9"`))
	log.Debug("pulumi begins", "args", `stack output --of=swordfish "9"`)
	if got := said.String(); strings.Contains(got, "swordfish") || !strings.Contains(got, `args="stack output --of=[secret]"`) {
		t.Errorf("said %s", got)
	}
}

func TestNoDebug(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	newLog(Deps{Console: vault.Console{Stderr: &said}}, false, event.NewMasker()).Debug("something")
	if said.Len() > 0 {
		t.Errorf("said %q", &said)
	}
}
