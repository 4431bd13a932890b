package pulumicli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mara/runner/internal/encryption"
	"mara/runner/internal/pulumicli/wire"
)

// unlocking is a key that workers derive ahead of the commands that need it.
type unlocking struct {
	request wire.Unlock
	answers chan revealed // one from each worker, with room for all
}

// revealed is a worker's answer.
type revealed struct {
	values []string
	err    error
}

// Unlock has every worker that is idle or being started derive the key of a
// passphrase, so that commands need not, and returns the first answer: nil,
// encryption.ErrPassphrase for a wrong passphrase, or errors.ErrUnsupported if
// there is no such worker. values are what the ciphertexts stand for, "" for one
// that the key does not open.
func (p *Pool) Unlock(ctx context.Context, passphrase, salt string, ciphertexts []string) (values []string, err error) {
	p.mu.Lock()
	workers, idle := len(p.idle)+p.coming, p.idle
	if workers == 0 || p.closed {
		p.mu.Unlock()
		return nil, errors.ErrUnsupported
	}
	asked := &unlocking{
		request: wire.Unlock{Passphrase: passphrase, Salt: salt, Ciphertexts: ciphertexts},
		answers: make(chan revealed, workers),
	}
	p.idle, p.unlocking = nil, asked
	for _, w := range idle {
		p.busy[w] = true
		go func() { asked.answers <- p.unlock(w, nil, asked.request) }()
	}
	p.mu.Unlock()
	select {
	case answer := <-asked.answers:
		return answer.values, answer.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// unlock has one worker derive the key, unless it could not be started.
func (p *Pool) unlock(w *worker, err error, request wire.Unlock) revealed {
	if err != nil {
		return revealed{err: err}
	}
	var shown, told bytes.Buffer
	code, err := w.do(wire.Request{Unlock: &request}, &shown, &told)
	if err != nil {
		p.drop(w)
		return revealed{err: err}
	}
	p.giveBack(w)
	switch code {
	case wire.Unlocked:
		var values []string
		err := json.Unmarshal(shown.Bytes(), &values)
		return revealed{values, err}
	case wire.WrongPassphrase:
		return revealed{err: encryption.ErrPassphrase}
	}
	return revealed{err: fmt.Errorf("deriving the passphrase's key: %s", strings.TrimSpace(told.String()))}
}

// Unlock is for workers only.
func (i *Installed) Unlock(context.Context, string, string, []string) ([]string, error) {
	return nil, errors.ErrUnsupported
}
