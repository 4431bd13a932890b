package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mara/config"
	"mara/runner/internal/machine/failure"
)

// Environment is the lock of an environment for one run: on this machine and, if other machines may share the backend,
// in the backend.
type Environment struct {
	Path     string // lock file on this machine
	Settings config.Settings
	Wait     time.Duration     // how long to wait for another run
	Waiting  func(text string) // prints which run it waits for
	// Bucket returns a directory in the bucket of a backend, or nil if it cannot be read.
	Bucket  func(ctx context.Context, backend, dir string) (Store, error)
	OnClose func(release func() error)
	Warn    func(text string)
}

// Inspect returns the state and owner of the lock on this machine.
func (e Environment) Inspect() (State, Owner, error) { return Inspect(e.Path) }

// options returns the options to take the lock.
func (e Environment) options(owner Owner) Options {
	return Options{Path: e.Path, Owner: owner, Wait: e.Wait, Waiting: func(other Owner) {
		e.Waiting(fmt.Sprintf("waiting up to %s for %s, which runs %s", e.Wait, other, other.Operation))
	}}
}

// Acquire takes both locks, until the session closes. It returns owners that died holding them.
func (e Environment) Acquire(ctx context.Context, owner Owner) (dead []Owner, err error) {
	held, err := Acquire(ctx, e.options(owner))
	if err != nil {
		return nil, err
	}
	dead = e.keep(held)
	inBackend, err := e.AcquireInBackend(ctx, owner)
	return append(dead, inBackend...), err
}

// AcquireInBackend takes only the lock in the backend, for a run that uses two backends and
// already has the lock on this machine.
func (e Environment) AcquireInBackend(ctx context.Context, owner Owner) (dead []Owner, err error) {
	store, err := e.store(ctx)
	if err != nil || store == nil {
		return nil, err
	}
	for _, one := range e.Settings.InEach() {
		if states, ok := one.StateDir(); ok {
			if err := os.MkdirAll(states, 0o700); err != nil {
				return nil, failure.RunnerDir(err)
			}
		}
	}
	held, err := AcquireShared(ctx, store, e.options(owner))
	switch _, isHeld := errors.AsType[*HeldError](err); {
	case err == nil:
		return e.keep(held), nil
	case isHeld || ctx.Err() != nil:
		return nil, err
	}
	return nil, &failure.Environment{Text: err.Error(), Next: "check that you may write to .mara/locks in the backend"}
}

// keep releases a lock when the session closes. It returns the owner that died holding it, if one did.
func (e Environment) keep(held *Lock) (dead []Owner) {
	e.OnClose(held.Release)
	if held.Previous != (Owner{}) {
		dead = append(dead, held.Previous)
	}
	return dead
}

// InBackend lists the locks of other runs, including dead ones, in the backend.
func (e Environment) InBackend(ctx context.Context) (Store, []Left, error) {
	store, err := e.store(ctx)
	if err != nil || store == nil {
		return nil, nil, err
	}
	left, err := OwnersIn(ctx, store)
	return store, left, err
}

// store returns the store of the lock in the backend, or in all backends that projects have; nil if none has one.
// Environments in one backend have different stack names.
func (e Environment) store(ctx context.Context) (Store, error) {
	var stores everywhere
	for _, settings := range e.Settings.InEach() {
		one := e
		one.Settings = settings
		store, err := one.below(ctx, ".mara/locks/")
		switch {
		case err != nil:
			return nil, err
		case store != nil:
			stores = append(stores, place{store, settings.Backend})
		case one.isShared():
			e.Warn("no shared lock in the backend with --pulumi: make sure that no other machine works on this environment")
		}
	}
	switch len(stores) {
	case 0:
		return nil, nil
	case 1:
		return stores[0].Store, nil
	}
	return stores, nil
}

// Rolled returns the store of the environment's rollout records in the backend, or nil if the
// backend has none.
func (e Environment) Rolled(ctx context.Context) (Store, error) {
	return e.below(ctx, ".mara/rolled/")
}

// KeyChange returns where the backend keeps the note of an unfinished change of the key provider, or nil where it has
// no place for it.
func (e Environment) KeyChange(ctx context.Context) (Store, error) {
	return e.below(ctx, ".mara/changes/")
}

// isShared reports whether other machines may use the backend: not the directory below the root.
// Pulumi Cloud has no place for the runner's locks.
func (e Environment) isShared() bool {
	source := e.Settings.Backend.Origin.Source
	return source != config.FromDefault && source != config.FromSimulation && !e.Settings.Managed()
}

// below returns the environment's directory below another one in a shared backend. It returns nil for other backends,
// and for a bucket without mara-engine, which is needed to access it.
func (e Environment) below(ctx context.Context, parent string) (Store, error) {
	if !e.isShared() {
		return nil, nil
	}
	dir := parent + e.Settings.Stack.Text
	if states, ok := e.Settings.StateDir(); ok {
		return Directory(filepath.Join(states, filepath.FromSlash(dir))), nil
	}
	return e.Bucket(ctx, e.Settings.Backend.Text, dir)
}
