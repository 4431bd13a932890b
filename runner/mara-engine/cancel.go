package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/util/cancel"
)

// interrupts cancels the running operation, in the place of Pulumi's own
// backend.CancellationScopes. Those listen to signals only once the engine has
// been prepared and the stack is locked: an earlier signal would end a process
// that is run for one command, and be lost in one that stays. Here it is kept
// for the operation that is about to begin. As in Pulumi, the first interrupt
// cancels and the next one terminates.
type interrupts struct {
	mu      sync.Mutex // guards what follows
	came    int        // in the current request
	gone    bool       // the runner; nothing may begin any more
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

// begin starts anew for a request.
func (i *interrupts) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.came = 0
}

// abandon cancels for good: there is nobody left to work for. What is being
// cancelled already is left to end as it does.
func (i *interrupts) abandon() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.gone = true
	for source := range i.running {
		source.Cancel()
	}
}

func (i *interrupts) interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.came++
	for source := range i.running {
		if i.came == 1 {
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
	if i.came > 0 || i.gone {
		source.Cancel()
	}
	return scope{source: source, close: func() { i.end(source) }}
}

func (i *interrupts) end(source *cancel.Source) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.running, source)
}

// scope is the time during which an operation can be cancelled.
type scope struct {
	source *cancel.Source
	close  func()
}

// Context implements backend.CancellationScope.
func (s scope) Context() *cancel.Context { return s.source.Context() }

// Close implements backend.CancellationScope.
func (s scope) Close() { s.close() }
