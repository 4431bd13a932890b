package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/failure"
	"mara/runner/internal/journal"
	"mara/runner/internal/lock"
)

// lockOptions say what the environment is locked for, and how long to wait for
// another run that has it.
type lockOptions struct {
	Operation string
	Wait      time.Duration
}

// lockFlags are for commands that lock the environment.
func lockFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "lock-timeout", Usage: "wait up to `DURATION` for another run to end", DefaultText: "0s"},
	}
}

func parseLock(c *cli.Context, operation string) (lockOptions, error) {
	o := lockOptions{Operation: operation, Wait: c.Duration("lock-timeout")}
	if o.Wait < 0 {
		return o, failure.Usagef(operation, "--lock-timeout: %s is less than nothing", o.Wait)
	}
	return o, nil
}

// lockFile is the environment's lock.
func (s *session) lockFile() string {
	return filepath.Join(s.folder, "locks", fmt.Sprintf("%s-%s.lock", s.provider.Name, s.settings.Stack.Text))
}

// lockEnvironment lets one run at a time work on the environment. From here on
// the run has its id.
func (s *session) lockEnvironment(ctx context.Context, d Deps, o lockOptions) error {
	s.run = journal.NewID(d.Now())
	s.owner = lock.Self(o.Operation, s.run, d.Now())
	held, err := lock.Acquire(ctx, lock.Options{
		Path: s.lockFile(), Owner: s.owner, Wait: o.Wait,
		Waiting: func(owner lock.Owner) {
			fmt.Fprintf(d.Stderr, "waiting up to %s for %s, which runs %s\n", o.Wait, owner, owner.Operation)
		},
	})
	if isA[*lock.HeldError](err) || ctx.Err() != nil {
		return err
	}
	if err != nil {
		return s.folderError(err)
	}
	s.closers = append(s.closers, held.Release)
	if dead, ok := held.Previous(); ok {
		s.takenOver = true
		s.warnings = append(s.warnings, fmt.Sprintf("the last run (%s, %s by %s) did not end properly; its lock is taken over", dead.Run, dead.Operation, dead))
	}
	return nil
}
