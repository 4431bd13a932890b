package pulumicli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/encryption"
	"mara/runner/internal/pulumicli/wire"
)

// unlocked is what the fake worker answers: the right passphrase is the salt, and
// a ciphertext is the value behind it.
func unlocked(request wire.Unlock, encoder *json.Encoder) int {
	switch {
	case request.Salt == "broken":
		_ = encoder.Encode(wire.Reply{Stderr: []byte("error: no salt\n")})
		return wire.CannotUnlock
	case request.Salt != request.Passphrase:
		return wire.WrongPassphrase
	}
	values := []string{}
	for _, ciphertext := range request.Ciphertexts {
		value, _ := strings.CutPrefix(ciphertext, request.Salt+":")
		if value == ciphertext {
			value = ""
		}
		values = append(values, value)
	}
	content, _ := json.Marshal(values)
	_ = encoder.Encode(wire.Reply{Stdout: content})
	return wire.Unlocked
}

func TestUnlock(t *testing.T) {
	t.Parallel()
	p := newTestPool(t)
	if _, err := p.Unlock(t.Context(), "x", "x", nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without workers: %v", err)
	}
	for range 3 { // with workers that are coming, and with those that are there
		p.Warm(2)
		values, err := p.Unlock(t.Context(), "x", "x", []string{"x:a", "y:b"})
		if diff := cmp.Diff([]string{"a", ""}, values); err != nil || diff != "" {
			t.Errorf("the right passphrase: %v %s", err, diff)
		}
		if _, _, _, err := run(t, p, "echo", "after"); err != nil {
			t.Error(err)
		}
		if _, err := p.Unlock(t.Context(), "x", "y", nil); !errors.Is(err, encryption.ErrPassphrase) {
			t.Errorf("a wrong passphrase: %v", err)
		}
	}
	if _, err := p.Unlock(t.Context(), "x", "broken", nil); err == nil || errors.Is(err, encryption.ErrPassphrase) || !strings.Contains(err.Error(), "no salt") {
		t.Errorf("a broken salt: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Unlock(t.Context(), "x", "x", nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("after the end: %v", err)
	}
}

// TestUnlockWithoutEngine: whoever cannot be started does not answer for ever.
func TestUnlockWithoutEngine(t *testing.T) {
	t.Parallel()
	p := NewPool("/nowhere/mara-engine")
	p.Warm(2)
	if _, err := p.Unlock(t.Context(), "x", "x", nil); err == nil || errors.Is(err, encryption.ErrPassphrase) {
		t.Errorf("got %v", err)
	}
}
