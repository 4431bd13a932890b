package session

import (
	"context"
	"errors"
	"sync"

	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/pulumi/engine"
	"mara/runner/internal/pulumi/programhost"
)

// Shared are the engine and the program hosts that sessions of one process have in
// common, so that all use the same warm workers. Each session has keys of its own.
type Shared struct {
	// Interrupt kills the engine when the user interrupts for the third time; nil for
	// none.
	Interrupt *interrupt.Levels

	mu     sync.Mutex // guards what follows
	common engine.Engine
	hosts  map[string]*programhost.Host // by provider
	stop   []func() error
}

// Close ends everything. The sessions have closed before.
func (p *Shared) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, stop := range p.stop {
		errs = append(errs, stop())
	}
	p.stop, p.common, p.hosts = nil, nil, nil
	return errors.Join(errs...)
}

// engine returns an engine for one more session. The first call starts the
// workers.
func (p *Shared) engine(ctx context.Context, o engine.Options) (engine.Engine, func() error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.common == nil {
		start := o
		start.Interrupt, start.Profile = p.Interrupt, nil
		// It outlives the session that starts it.
		common, stop, err := engine.Start(context.WithoutCancel(ctx), start)
		if err != nil {
			return nil, nil, err
		}
		p.common, p.stop = common, append(p.stop, stop)
	}
	return engine.Beside(p.common, o), func() error { return nil }, nil
}

// host serves a provider's programs, and starts when it is first needed.
func (p *Shared) host(o programhost.Options) (*programhost.Host, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if host, ok := p.hosts[o.Provider]; ok {
		return host, nil
	}
	o.Ran, o.Ended = nil, nil // about one session; commands that fail tell
	host, err := programhost.Start(o)
	if err != nil {
		return nil, err
	}
	if p.hosts == nil {
		p.hosts = map[string]*programhost.Host{}
	}
	p.hosts[o.Provider] = host
	p.stop = append(p.stop, host.Close)
	return host, nil
}
