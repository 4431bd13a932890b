// Package interrupt turns signals into three levels. At the first Ctrl-C nothing
// new starts, and what runs is finished. The second cancels what runs, the way
// Pulumi wants it. The third kills. SIGTERM counts as the second, and so does the
// first Ctrl-C while nothing runs that can be stopped gently.
//
// SIGHUP, of a terminal that is closed, counts as SIGTERM but never kills: both
// the shell and the kernel send it.
package interrupt

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

// ErrInterrupted is the cause of a context that a signal has cancelled, and the
// error of a run with cancelled steps.
var ErrInterrupted = errors.New("interrupted")

// Sleep waits for d or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// Levels counts signals and says how hard to stop.
type Levels struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	killed chan struct{}

	mu     sync.Mutex    // guards what follows
	level  int           // 0 none, 1 stopping, 2 cancelled, 3 killed
	gentle chan struct{} // not nil while something runs that can be stopped gently
}

// Watch reads signals until the channel closes or ctx ends.
func Watch(ctx context.Context, signals <-chan os.Signal) *Levels {
	l := &Levels{killed: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	go func() {
		for {
			select {
			case signal, open := <-signals:
				if !open {
					return
				}
				l.receive(signal)
			case <-ctx.Done():
				return
			}
		}
	}()
	return l
}

// Context returns a context that is cancelled at the second level, with
// ErrInterrupted as its cause.
func (l *Levels) Context() context.Context { return l.ctx }

// Killed returns a channel that is closed at the third level.
func (l *Levels) Killed() <-chan struct{} { return l.killed }

// Gentle announces work that can be stopped gently. The channel is closed at the
// first level; release ends the work. With nil Levels the channel is never closed.
func (l *Levels) Gentle() (stop <-chan struct{}, release func()) {
	if l == nil {
		return nil, func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	gentle := make(chan struct{})
	if l.level > 0 {
		close(gentle)
	}
	l.gentle = gentle
	return gentle, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.gentle = nil
	}
}

func (l *Levels) receive(signal os.Signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.level + 1
	switch {
	case signal == syscall.SIGHUP:
		next = max(l.level, 2)
	case l.gentle == nil || signal == syscall.SIGTERM:
		next = max(next, 2)
	}
	if next >= 1 && l.level < 1 && l.gentle != nil {
		close(l.gentle)
	}
	if next >= 2 && l.level < 2 {
		l.cancel(ErrInterrupted)
	}
	if next >= 3 && l.level < 3 {
		close(l.killed)
	}
	l.level = next
}
