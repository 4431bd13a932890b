package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/util/cancel"
)

// interrupts cancels the running operation. It replaces Pulumi's own
// backend.CancellationScopes, which listen to signals only once the engine is
// prepared and the stack is locked, so that this process would lose an earlier
// signal. Here such a signal cancels the operation as soon as it begins. As in
// Pulumi, the first interrupt cancels and the next one terminates.
type interrupts struct {
	mu      sync.Mutex // guards what follows
	count   int        // of the current request
	closed  bool       // the runner is gone, and nothing may begin any more
	running map[*cancel.Source]bool
}

var _ backend.CancellationScopeSource = (*interrupts)(nil)

// watchInterrupts counts the signals the process gets.
func watchInterrupts() *interrupts {
	i := &interrupts{running: map[*cancel.Source]bool{}}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for range signals {
			i.interrupt()
		}
	}()
	return i
}

// begin resets the count for a new request.
func (i *interrupts) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count = 0
}

// abandonTime is how long a command that is no operation may run after the runner is gone: it may wait for a backend
// that never answers.
const abandonTime = 5 * time.Second

// abandon cancels everything for good, because the runner is gone. A command that is no operation cannot be cancelled;
// exit is called if it has not ended in time. An operation has time to save its state.
func (i *interrupts) abandon(limit time.Duration, exit func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	for source := range i.running {
		source.Cancel()
	}
	time.AfterFunc(limit, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if len(i.running) == 0 {
			exit()
		}
	})
}

func (i *interrupts) interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	for source := range i.running {
		if i.count == 1 {
			source.Cancel()
		} else {
			source.Terminate()
		}
	}
}

// NewScope implements backend.CancellationScopeSource.
func (i *interrupts) NewScope(ctx context.Context, _ chan<- engine.Event, _ bool) backend.CancellationScope {
	_, source := cancel.NewContext(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running[source] = true
	if i.count > 0 || i.closed {
		source.Cancel()
	}
	return scope{source, i}
}

// scope is the time during which an operation can be cancelled.
type scope struct {
	source     *cancel.Source
	interrupts *interrupts
}

// Context implements backend.CancellationScope.
func (s scope) Context() *cancel.Context { return s.source.Context() }

// Close implements backend.CancellationScope.
func (s scope) Close() {
	s.interrupts.mu.Lock()
	defer s.interrupts.mu.Unlock()
	delete(s.interrupts.running, s.source)
}
