// Package runlock locks an environment for one run: on this machine, and, where
// others may share its backend, in that.
package runlock

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"mara/config"
	"mara/runner/internal/engine"
	"mara/runner/internal/failure"
	"mara/runner/internal/layout"
	"mara/runner/internal/lock"
	"mara/runner/internal/process"
	"mara/runner/internal/statefiles"
)

// locksFolder returns where a backend keeps the lock of an environment, beside what
// Pulumi keeps there. Environments of one backend are told apart by their stacks.
func locksFolder(stack string) string { return ".mara/locks/" + stack }

// Lock is the lock of an environment.
type Lock struct {
	File     string // of this machine
	Settings config.Settings
	States   statefiles.Folder
	Env      map[string]string
	Wait     time.Duration     // for another run
	Waiting  func(text string) // is told whom it waits for
	Engine   func(context.Context) (engine.Engine, error)
	Embedded func() (bool, error) // reports whether that is mara-engine
	OnClose  func(release func() error)
	Warn     func(text string)
}

// Inspect looks who holds the lock of this machine.
func (l Lock) Inspect() (lock.State, lock.Owner, error) {
	state, owner, err := lock.Inspect(l.File)
	if err != nil {
		err = failure.RunnerFolder(err)
	}
	return state, owner, err
}

// Acquire takes both locks, until OnClose releases them. It returns who had them
// and did not end properly.
func (l Lock) Acquire(ctx context.Context, owner lock.Owner) (dead []lock.Owner, err error) {
	held, err := lock.Acquire(ctx, lock.Options{Path: l.File, Owner: owner, Wait: l.Wait, Waiting: l.tellWaiting})
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

// AcquireInBackend takes the lock in the backend only, for a run that works on two
// backends and has the lock of this machine.
func (l Lock) AcquireInBackend(ctx context.Context, owner lock.Owner) (dead []lock.Owner, err error) {
	store, err := l.store(ctx)
	if err != nil || store == nil {
		return nil, err
	}
	if err := l.States.Make(); err != nil {
		return nil, failure.RunnerFolder(err)
	}
	shared, err := lock.AcquireShared(ctx, store, lock.Options{Owner: owner, Wait: l.Wait, Waiting: l.tellWaiting})
	if err != nil {
		return nil, failed(ctx, err)
	}
	l.OnClose(shared.Release)
	if previous, ok := shared.Previous(); ok {
		dead = append(dead, previous)
	}
	return dead, nil
}

// failed returns the error to show.
func failed(ctx context.Context, err error) error {
	var held *lock.HeldError
	if errors.As(err, &held) || ctx.Err() != nil {
		return err
	}
	return &failure.Environment{Text: err.Error(), Next: "the run lock is kept in the backend, so that others who share it do not work on the environment at the same time"}
}

// tellWaiting says whom it waits for.
func (l Lock) tellWaiting(owner lock.Owner) {
	l.Waiting(fmt.Sprintf("waiting up to %s for %s, which runs %s", l.Wait, owner, owner.Operation))
}

// InBackend returns the locks that others, or runs that died, have in the backend.
func (l Lock) InBackend(ctx context.Context) (lock.Store, []lock.Left, error) {
	store, err := l.store(ctx)
	if err != nil || store == nil {
		return nil, nil, err
	}
	left, err := lock.OwnersIn(ctx, store)
	return store, left, err
}

// store returns where the backend keeps the lock; nil where it has no place for it.
func (l Lock) store(ctx context.Context) (lock.Store, error) {
	store, err := l.below(ctx, locksFolder(l.Settings.Stack.Text))
	if _, isFolder := l.Settings.StateFolder(); err == nil && store == nil && l.isShared() && !isFolder {
		l.Warn("the run lock is not kept in the backend, which takes mara-engine: let nobody else work on this environment meanwhile")
	}
	return store, err
}

// Rolled returns where the backend keeps what the environment was last rolled out as;
// nil where it has no place for it.
func (l Lock) Rolled(ctx context.Context) (lock.Store, error) {
	return l.below(ctx, ".mara/rolled/"+l.Settings.Stack.Text)
}

// isShared reports whether others may have the backend: not the folder below the
// root. A service such as Pulumi Cloud has no place for what the runner keeps.
func (l Lock) isShared() bool {
	source := l.Settings.Backend.Origin.Source
	return source != config.FromDefault && source != config.FromSimulation && !l.Settings.Managed()
}

// below returns a folder in a backend that others may share; nil for any other, and for a
// bucket without mara-engine, which knows how to get at it.
func (l Lock) below(ctx context.Context, folder string) (lock.Store, error) {
	if !l.isShared() {
		return nil, nil
	}
	if states, ok := l.Settings.StateFolder(); ok {
		return lock.Folder(filepath.Join(states, filepath.FromSlash(folder))), nil
	}
	if bucket, ok, err := l.bucket(ctx, folder); err != nil || ok {
		return bucket, err
	}
	return nil, nil
}

// OnStacks returns where the backend keeps Pulumi's locks on stacks; nil where only the
// backend's list of stacks tells of them.
func (l Lock) OnStacks(ctx context.Context) (statefiles.LockStore, error) {
	if l.States.IsFile() {
		return l.States.LockFiles(), nil
	}
	if bucket, ok, err := l.bucket(ctx, filepath.ToSlash(layout.State("").Locks())); err != nil || ok {
		return bucket, err
	}
	return nil, nil
}

// bucket returns a folder in the bucket of the backend, if it is one and there is
// mara-engine.
func (l Lock) bucket(ctx context.Context, folder string) (bucket engine.Bucket, ok bool, err error) {
	if l.Settings.Managed() {
		return bucket, false, nil
	}
	e, err := l.Engine(ctx)
	if err != nil {
		return bucket, false, err
	}
	ok, err = l.Embedded()
	return engine.Bucket{Engine: e, URL: l.Settings.Backend.Text, Folder: folder, Dir: l.Settings.Root, Env: process.Environ(l.Env)}, ok, err
}
