package session

import (
	"context"
	"errors"
	"fmt"

	"mara/runner/internal/journal"
	"mara/runner/internal/lock"
)

// LockFile is the environment's lock.
func (s *Session) LockFile() string {
	return s.Folder.Lock(s.Provider.Name, s.Settings.Stack.Text)
}

// lockEnvironment lets one run at a time work on the environment; work is what
// others are told of it. From here on the run has its id.
func (s *Session) lockEnvironment(ctx context.Context, work string) error {
	wait := s.options.LockTimeout
	s.RunID = journal.NewID(s.deps.Now())
	s.Owner = lock.Self(work, s.RunID, s.deps.Now())
	held, err := lock.Acquire(ctx, lock.Options{
		Path: s.LockFile(), Owner: s.Owner, Wait: wait,
		Waiting: func(owner lock.Owner) {
			fmt.Fprintf(s.deps.Stderr, "waiting up to %s for %s, which runs %s\n", wait, owner, owner.Operation)
		},
	})
	if _, held := errors.AsType[*lock.HeldError](err); held || ctx.Err() != nil {
		return err
	}
	if err != nil {
		return s.FolderError(err)
	}
	s.closers = append(s.closers, held.Release)
	s.log.Debug("locked", "file", s.LockFile(), "run", s.RunID)
	if dead, ok := held.Previous(); ok {
		s.takenOver = true
		s.Warnings = append(s.Warnings, fmt.Sprintf("the last run (%s, %s by %s) did not end properly; its lock is taken over", dead.Run, dead.Operation, dead))
	}
	return nil
}
