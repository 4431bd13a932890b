package pulumicli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"mara/runner/internal/encryption"
	"mara/runner/internal/pulumicli/wire"
)

// unlocking is a key that workers derive ahead of the commands that need it.
type unlocking struct {
	request wire.Unlock
	answers chan error // one from each worker, with room for all
}

// Unlock has every worker that is idle or being started derive the key of a
// passphrase, so that commands need not, and returns the first answer: nil,
// encryption.ErrPassphrase for a wrong passphrase, or errors.ErrUnsupported if
// there is no such worker.
func (p *Pool) Unlock(ctx context.Context, passphrase, salt string) error {
	p.mu.Lock()
	workers, idle := len(p.idle)+p.coming, p.idle
	if workers == 0 || p.closed {
		p.mu.Unlock()
		return errors.ErrUnsupported
	}
	asked := &unlocking{request: wire.Unlock{Passphrase: passphrase, Salt: salt}, answers: make(chan error, workers)}
	p.idle, p.unlocking = nil, asked
	for _, w := range idle {
		p.busy[w] = true
		go func() { asked.answers <- p.unlock(w, nil, asked.request) }()
	}
	p.mu.Unlock()
	select {
	case err := <-asked.answers:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unlock has one worker derive the key, unless it could not be started.
func (p *Pool) unlock(w *worker, err error, request wire.Unlock) error {
	if err != nil {
		return err
	}
	var told bytes.Buffer
	code, err := w.do(wire.Request{Unlock: &request}, io.Discard, &told)
	if err != nil {
		p.drop(w)
		return err
	}
	p.giveBack(w)
	switch code {
	case wire.Unlocked:
		return nil
	case wire.WrongPassphrase:
		return encryption.ErrPassphrase
	}
	return fmt.Errorf("deriving the passphrase's key: %s", strings.TrimSpace(told.String()))
}

// Unlock is for workers only.
func (i *Installed) Unlock(context.Context, string, string) error { return errors.ErrUnsupported }
