package session

import (
	"context"
	"fmt"
	"path/filepath"

	"mara/config"
	"mara/runner/internal/engine"
	"mara/runner/internal/failure"
	"mara/runner/internal/lock"
	"mara/runner/internal/stacks"
)

// locksFolder is where a backend keeps the lock of an environment, beside what
// Pulumi keeps there. Environments of one backend are told apart by their stacks.
func locksFolder(stack string) string { return ".mara/locks/" + stack }

// lockBackend locks the environment for other machines, too, where they may
// share its backend.
func (s *Session) lockBackend(ctx context.Context, h *Held) error {
	store, err := s.lockStore(ctx)
	if err != nil || store == nil {
		return err
	}
	if err := s.States().Make(); err != nil {
		return failure.RunnerFolder(err)
	}
	held, err := lock.AcquireShared(ctx, store, lock.Options{Owner: h.Owner, Wait: s.Options.LockTimeout, Waiting: s.tellWaiting})
	if err != nil {
		return failedToLock(ctx, err)
	}
	s.OnClose(held.Release)
	s.Log.Debug("locked the backend", "run", h.RunID)
	if dead, ok := held.Previous(); ok {
		h.takeOver(dead)
	}
	return nil
}

// failedToLock is the error to show.
func failedToLock(ctx context.Context, err error) error {
	if _, held := err.(*lock.HeldError); held || ctx.Err() != nil {
		return err
	}
	return &failure.Environment{Text: err.Error(), Next: "the run lock is kept in the backend, so that others who share it do not work on the environment at the same time"}
}

// tellWaiting says whom the session waits for.
func (s *Session) tellWaiting(owner lock.Owner) {
	fmt.Fprintf(s.Deps.Stderr, "waiting up to %s for %s, which runs %s\n", s.Options.LockTimeout, owner, owner.Operation)
}

// LocksInBackend are those that others, or runs that died, have in the backend.
func (s *Session) LocksInBackend(ctx context.Context) (lock.Store, []lock.Left, error) {
	store, err := s.lockStore(ctx)
	if err != nil || store == nil {
		return nil, nil, err
	}
	left, err := lock.OwnersIn(ctx, store)
	return store, left, err
}

// lockStore is where the backend keeps the lock; nil for one that nobody shares,
// such as the folder below the root, and for those where it cannot be kept: a
// service such as Pulumi Cloud, which has no place for it.
func (s *Session) lockStore(ctx context.Context) (lock.Store, error) {
	backend, stack := s.Settings.Backend, s.Settings.Stack.Text
	if source := backend.Origin.Source; source == config.FromDefault || source == config.FromSimulation || s.Settings.Managed() {
		return nil, nil
	}
	if folder, ok := s.Settings.StateFolder(); ok {
		return lock.Folder(filepath.Join(folder, filepath.FromSlash(locksFolder(stack)))), nil
	}
	e, err := s.Engine(ctx)
	if err != nil {
		return nil, err
	}
	if found, err := engine.Find(s.Deps.Engines, s.Options.Pulumi); err != nil || !found.Embedded {
		s.Warnings = append(s.Warnings, "the run lock is not kept in the backend, which takes mara-engine: let nobody else work on this environment meanwhile")
		return nil, err
	}
	return engine.Bucket{Engine: e, URL: backend.Text, Folder: locksFolder(stack), Dir: s.Settings.Root, Env: stacks.Environ(s.Env)}, nil
}
