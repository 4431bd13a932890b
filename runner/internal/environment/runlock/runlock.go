// Package runlock locks an environment for one run: on this machine and, if other machines
// may share the backend, in the backend.
package runlock

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"mara/config"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/process"
	"mara/runner/internal/pulumi/engine"
	"mara/runner/internal/state/lock"
	"mara/runner/internal/state/statefiles"
)

// locksDir returns the directory of an environment's lock in a backend. Environments in one
// backend have different stack names.
func locksDir(stack string) string { return ".mara/locks/" + stack }

// Lock is the lock of an environment.
type Lock struct {
	File     string // lock file on this machine
	Settings config.Settings
	States   statefiles.Directory
	Env      map[string]string
	Wait     time.Duration     // how long to wait for another run
	Waiting  func(text string) // prints which run it waits for
	Engine   func(context.Context) (engine.Engine, error)
	Embedded func() (bool, error) // reports whether the engine is mara-engine
	OnClose  func(release func() error)
	Warn     func(text string)
}

// Inspect returns the state and owner of the lock on this machine.
func (l Lock) Inspect() (lock.State, lock.Owner, error) {
	state, owner, err := lock.Inspect(l.File)
	if err != nil {
		err = failure.RunnerDir(err)
	}
	return state, owner, err
}

// Acquire takes both locks, until OnClose releases them. It returns owners that died holding
// them.
func (l Lock) Acquire(ctx context.Context, owner lock.Owner) (dead []lock.Owner, err error) {
	held, err := lock.Acquire(ctx, lock.Options{Path: l.File, Owner: owner, Wait: l.Wait, Waiting: l.announceWait})
	if err != nil {
		return nil, lock.Failed(ctx, err)
	}
	l.OnClose(held.Release)
	if previous, ok := held.Previous(); ok {
		dead = append(dead, previous)
	}
	left, err := l.AcquireInBackend(ctx, owner)
	return append(dead, left...), err
}

// AcquireInBackend takes only the lock in the backend, for a run that uses two backends and
// already has the lock on this machine.
func (l Lock) AcquireInBackend(ctx context.Context, owner lock.Owner) (dead []lock.Owner, err error) {
	store, err := l.store(ctx)
	if err != nil || store == nil {
		return nil, err
	}
	if err := l.States.Make(); err != nil {
		return nil, failure.RunnerDir(err)
	}
	shared, err := lock.AcquireShared(ctx, store, lock.Options{Owner: owner, Wait: l.Wait, Waiting: l.announceWait})
	if err != nil {
		return nil, failed(ctx, err)
	}
	l.OnClose(shared.Release)
	if previous, ok := shared.Previous(); ok {
		dead = append(dead, previous)
	}
	return dead, nil
}

// failed adds a hint to errors of the lock in the backend.
func failed(ctx context.Context, err error) error {
	var held *lock.HeldError
	if errors.As(err, &held) || ctx.Err() != nil {
		return err
	}
	return &failure.Environment{Text: err.Error(), Next: "check that you may write to .mara/locks in the backend"}
}

// announceWait prints which run it waits for.
func (l Lock) announceWait(owner lock.Owner) {
	l.Waiting(fmt.Sprintf("waiting up to %s for %s, which runs %s", l.Wait, owner, owner.Operation))
}

// InBackend lists the locks of other runs, including dead ones, in the backend.
func (l Lock) InBackend(ctx context.Context) (lock.Store, []lock.Left, error) {
	store, err := l.store(ctx)
	if err != nil || store == nil {
		return nil, nil, err
	}
	left, err := lock.OwnersIn(ctx, store)
	return store, left, err
}

// store returns the store of the lock in the backend, or nil if the backend has none.
func (l Lock) store(ctx context.Context) (lock.Store, error) {
	store, err := l.below(ctx, locksDir(l.Settings.Stack.Text))
	if _, isDir := l.Settings.StateDir(); err == nil && store == nil && l.isShared() && !isDir {
		l.Warn("no shared lock in the backend with --pulumi: make sure that no other machine works on this environment")
	}
	return store, err
}

// Rolled returns the store of the environment's rollout records in the backend, or nil if the
// backend has none.
func (l Lock) Rolled(ctx context.Context) (lock.Store, error) {
	return l.below(ctx, ".mara/rolled/"+l.Settings.Stack.Text)
}

// KeyChange returns where the backend keeps the note of an unfinished change of the key provider, or nil where it has
// no place for it.
func (l Lock) KeyChange(ctx context.Context) (lock.Store, error) {
	return l.below(ctx, ".mara/changes/"+l.Settings.Stack.Text)
}

// isShared reports whether other machines may use the backend: not the directory below the root.
// Pulumi Cloud has no place for the runner's locks.
func (l Lock) isShared() bool {
	source := l.Settings.Backend.Origin.Source
	return source != config.FromDefault && source != config.FromSimulation && !l.Settings.Managed()
}

// below returns a directory in a shared backend. It returns nil for other backends, and for a
// bucket without mara-engine, which is needed to access it.
func (l Lock) below(ctx context.Context, dir string) (lock.Store, error) {
	if !l.isShared() {
		return nil, nil
	}
	if states, ok := l.Settings.StateDir(); ok {
		return lock.Directory(filepath.Join(states, filepath.FromSlash(dir))), nil
	}
	if bucket, ok, err := l.bucket(ctx, dir); err != nil || ok {
		return bucket, err
	}
	return nil, nil
}

// OnStacks returns the store of Pulumi's locks on stacks, or nil if only the backend's list of
// stacks shows them.
func (l Lock) OnStacks(ctx context.Context) (statefiles.LockStore, error) {
	if l.States.IsFile() {
		return l.States.LockFiles(), nil
	}
	if bucket, ok, err := l.bucket(ctx, filepath.ToSlash(layout.State("").Locks())); err != nil || ok {
		return bucket, err
	}
	return nil, nil
}

// bucket returns a directory in the bucket of the backend; ok is false without mara-engine.
func (l Lock) bucket(ctx context.Context, dir string) (bucket engine.Bucket, ok bool, err error) {
	if l.Settings.Managed() {
		return bucket, false, nil
	}
	e, err := l.Engine(ctx)
	if err != nil {
		return bucket, false, err
	}
	ok, err = l.Embedded()
	return engine.Bucket{Engine: e, URL: l.Settings.Backend.Text, Directory: dir, Dir: l.Settings.Root,
		Env: process.Environ(l.Env)}, ok, err
}
