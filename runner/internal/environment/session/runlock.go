package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"mara/config"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/process"
	"mara/runner/internal/pulumi/engine"
	"mara/runner/internal/state/lock"
	"mara/runner/internal/state/statefiles"
)

// RunLock is the lock of an environment for one run: on this machine and, if other machines may share the backend,
// in the backend.
type RunLock struct{ session *Session }

// RunLock returns the environment's lock.
func (s *Session) RunLock() RunLock { return RunLock{s} }

// File returns the lock file on this machine.
func (l RunLock) File() string {
	return l.session.Directory.Lock(l.session.Provider.Name, l.session.Settings.Stack.Text)
}

// Inspect returns the state and owner of the lock on this machine.
func (l RunLock) Inspect() (lock.State, lock.Owner, error) { return lock.Inspect(l.File()) }

// options returns the options to take the lock.
func (l RunLock) options(owner lock.Owner) lock.Options {
	wait, print := l.session.Options.LockTimeout, l.session.Options.Waiting.teller(l.session.Deps.Stderr)
	return lock.Options{Path: l.File(), Owner: owner, Wait: wait, Waiting: func(other lock.Owner) {
		print(fmt.Sprintf("waiting up to %s for %s, which runs %s", wait, other, other.Operation))
	}}
}

// Acquire takes both locks, until the session closes. It returns owners that died holding them.
func (l RunLock) Acquire(ctx context.Context, owner lock.Owner) (dead []lock.Owner, err error) {
	held, err := lock.Acquire(ctx, l.options(owner))
	if err != nil {
		return nil, err
	}
	inBackend, err := l.AcquireInBackend(ctx, owner)
	return append(l.keep(held), inBackend...), err
}

// AcquireInBackend takes only the lock in the backend, for a run that uses two backends and
// already has the lock on this machine.
func (l RunLock) AcquireInBackend(ctx context.Context, owner lock.Owner) (dead []lock.Owner, err error) {
	store, err := l.store(ctx)
	if err != nil || store == nil {
		return nil, err
	}
	if err := l.session.States().Make(); err != nil {
		return nil, failure.RunnerDir(err)
	}
	held, err := lock.AcquireShared(ctx, store, l.options(owner))
	switch _, isHeld := errors.AsType[*lock.HeldError](err); {
	case err == nil:
		return l.keep(held), nil
	case isHeld || ctx.Err() != nil:
		return nil, err
	}
	return nil, &failure.Environment{Text: err.Error(), Next: "check that you may write to .mara/locks in the backend"}
}

// keep releases a lock when the session closes. It returns the owner that died holding it, if one did.
func (l RunLock) keep(held *lock.Lock) (dead []lock.Owner) {
	l.session.OnClose(held.Release)
	if held.Previous != (lock.Owner{}) {
		dead = append(dead, held.Previous)
	}
	return dead
}

// InBackend lists the locks of other runs, including dead ones, in the backend.
func (l RunLock) InBackend(ctx context.Context) (lock.Store, []lock.Left, error) {
	store, err := l.store(ctx)
	if err != nil || store == nil {
		return nil, nil, err
	}
	left, err := lock.OwnersIn(ctx, store)
	return store, left, err
}

// store returns the store of the lock in the backend, or nil if the backend has none. Environments in one backend have
// different stack names.
func (l RunLock) store(ctx context.Context) (lock.Store, error) {
	store, err := l.below(ctx, ".mara/locks/")
	if err == nil && store == nil && l.isShared() {
		l.session.Warnings = append(l.session.Warnings,
			"no shared lock in the backend with --pulumi: make sure that no other machine works on this environment")
	}
	return store, err
}

// Rolled returns the store of the environment's rollout records in the backend, or nil if the
// backend has none.
func (l RunLock) Rolled(ctx context.Context) (lock.Store, error) {
	return l.below(ctx, ".mara/rolled/")
}

// KeyChange returns where the backend keeps the note of an unfinished change of the key provider, or nil where it has
// no place for it.
func (l RunLock) KeyChange(ctx context.Context) (lock.Store, error) {
	return l.below(ctx, ".mara/changes/")
}

// isShared reports whether other machines may use the backend: not the directory below the root.
// Pulumi Cloud has no place for the runner's locks.
func (l RunLock) isShared() bool {
	settings := l.session.Settings
	source := settings.Backend.Origin.Source
	return source != config.FromDefault && source != config.FromSimulation && !settings.Managed()
}

// below returns the environment's directory below another one in a shared backend. It returns nil for other backends,
// and for a bucket without mara-engine, which is needed to access it.
func (l RunLock) below(ctx context.Context, parent string) (lock.Store, error) {
	if !l.isShared() {
		return nil, nil
	}
	dir := parent + l.session.Settings.Stack.Text
	if states, ok := l.session.Settings.StateDir(); ok {
		return lock.Directory(filepath.Join(states, filepath.FromSlash(dir))), nil
	}
	if bucket, ok, err := l.bucket(ctx, dir); err != nil || ok {
		return bucket, err
	}
	return nil, nil
}

// OnStacks returns the store of Pulumi's locks on stacks, or nil if only the backend's list of
// stacks shows them.
func (l RunLock) OnStacks(ctx context.Context) (statefiles.LockStore, error) {
	if states := l.session.States(); states.IsFile() {
		return states.LockFiles(), nil
	}
	if bucket, ok, err := l.bucket(ctx, filepath.ToSlash(layout.State("").Locks())); err != nil || ok {
		return bucket, err
	}
	return nil, nil
}

// bucket returns a directory in the bucket of the backend; ok is false without mara-engine.
func (l RunLock) bucket(ctx context.Context, dir string) (bucket engine.Bucket, ok bool, err error) {
	s := l.session
	if s.Settings.Managed() {
		return bucket, false, nil
	}
	e, err := s.Engine(ctx)
	if err != nil {
		return bucket, false, err
	}
	found, err := engine.Find(s.Deps.Engines, s.Options.Pulumi)
	return engine.Bucket{Engine: e, URL: s.Settings.Backend.Text, Directory: dir, Dir: s.Settings.Root,
		Env: process.Environ(s.Env)}, found.Embedded, err
}
