package session

import (
	"context"
	"errors"
	"sync"

	"mara/runner/internal/engine"
	"mara/runner/internal/programhost"
)

// Shared are engines and program hosts that sessions of one process hand on to
// one another: an environment that opens when another one has closed finds warm
// workers. An engine serves one session at a time, because its workers keep the
// key of the environment that they work on; a host serves all.
type Shared struct {
	mu    sync.Mutex // guards what follows
	idle  []*shared
	hosts map[string]*programhost.Host // by provider
	stop  []func() error               // of the hosts
}

// shared is an engine that sessions hand on.
type shared struct {
	engine.Engine
	stop func() error
	uses int
}

// mostUses is how many environments an engine serves, one after the other: Pulumi
// keeps a little of each in memory, and workers that were started in a busy moment
// stay.
const mostUses = 6

// Close ends everything. The sessions have closed before.
func (p *Shared) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, e := range p.idle {
		errs = append(errs, e.stop())
	}
	for _, stop := range p.stop {
		errs = append(errs, stop())
	}
	p.stop, p.idle, p.hosts = nil, nil, nil
	return errors.Join(errs...)
}

// engine takes an idle engine, or starts one; give hands it back.
func (p *Shared) engine(ctx context.Context, o engine.Options) (e engine.Engine, give func() error, err error) {
	one := p.take()
	if one == nil {
		one = &shared{}
		// It outlives the session that starts it.
		if one.Engine, one.stop, err = engine.Start(context.WithoutCancel(ctx), o); err != nil {
			return nil, nil, err
		}
	}
	return one.Engine, func() error { return p.give(one) }, nil
}

// take is an idle engine, nil if there is none.
func (p *Shared) take() *shared {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	one := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return one
}

// give takes an engine back, and ends one that has served long enough.
func (p *Shared) give(one *shared) error {
	if one.uses++; one.uses >= mostUses {
		return one.stop()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, one)
	return nil
}

// host is the host of a provider's programs, which is started when it is first
// needed.
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
