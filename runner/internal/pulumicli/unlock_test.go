package pulumicli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"mara/runner/internal/encryption"
	"mara/runner/internal/pulumicli/wire"
)

// unlocked is what the fake worker answers: the right passphrase is the salt.
func unlocked(request wire.Unlock, encoder *json.Encoder) int {
	switch {
	case request.Salt == "broken":
		_ = encoder.Encode(wire.Reply{Stderr: []byte("error: no salt\n")})
		return wire.CannotUnlock
	case request.Salt != request.Passphrase:
		return wire.WrongPassphrase
	}
	return wire.Unlocked
}

func TestUnlock(t *testing.T) {
	t.Parallel()
	p := newTestPool(t)
	if err := p.Unlock(t.Context(), "x", "x"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without workers: %v", err)
	}
	for range 3 { // with workers that are coming, and with those that are there
		p.Warm(2)
		if err := p.Unlock(t.Context(), "x", "x"); err != nil {
			t.Errorf("the right passphrase: %v", err)
		}
		if _, _, _, err := run(t, p, "echo", "after"); err != nil {
			t.Error(err)
		}
		if err := p.Unlock(t.Context(), "x", "y"); !errors.Is(err, encryption.ErrPassphrase) {
			t.Errorf("a wrong passphrase: %v", err)
		}
	}
	if err := p.Unlock(t.Context(), "x", "broken"); err == nil || errors.Is(err, encryption.ErrPassphrase) || !strings.Contains(err.Error(), "no salt") {
		t.Errorf("a broken salt: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Unlock(t.Context(), "x", "x"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("after the end: %v", err)
	}
}

// TestUnlockWithoutEngine: whoever cannot be started does not answer for ever.
func TestUnlockWithoutEngine(t *testing.T) {
	t.Parallel()
	p := NewPool("/nowhere/mara-engine")
	p.Warm(2)
	if err := p.Unlock(t.Context(), "x", "x"); err == nil || errors.Is(err, encryption.ErrPassphrase) {
		t.Errorf("got %v", err)
	}
}
