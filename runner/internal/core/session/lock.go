package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/process"
)

// Locked is an environment whose lock this process holds until it is closed. Only its holder gets a work directory
// below the root, where files of runs that were killed are removed.
type Locked struct {
	*Resolved
	RunID     string
	Owner     lock.Owner
	TakenOver bool // from a run that did not end properly
}

// Lock locks the environment for one run. Other runs see the work in their message.
func (s *Resolved) Lock(ctx context.Context, work string) (*Locked, error) {
	id := journal.NewID(s.Deps.Now())
	l := &Locked{Resolved: s, RunID: id, Owner: lock.Self(work, id, s.Deps.Now())}
	waiting, done := s.Options.Waiting.Until(ctx)
	dead, err := s.RunLock().Acquire(waiting, l.Owner)
	done()
	if l.TakenOver = len(dead) > 0; l.TakenOver { // its lock here, or in the backend, or both
		s.Warnings = append(s.Warnings, fmt.Sprintf("the last run (%s, %s by %s) did not end properly; its lock is "+
			"taken over", dead[0].Run, dead[0].Operation, dead[0]))
	}
	if err != nil {
		return nil, err
	}
	layout.IgnoreInGit(s.Settings.Root)
	s.Log.Debug("locked", "run", l.RunID)
	s.Profile.Lap("lock")
	return l, nil
}

// recordTerm records that the run has the environment, until it is closed.
func (l *Locked) recordTerm() error {
	terms := termsOf(l.Resolved)
	if err := terms.Begin(l.Owner); err != nil {
		return err
	}
	l.OnClose(func() error {
		if err := terms.End(l.Owner, l.Deps.Now()); err != nil { // then its locks count as live, and unlock asks
			l.Log.Debug("the end of the run is not recorded", "error", err)
		}
		return nil
	})
	return nil
}

func termsOf(s *Resolved) lock.Terms {
	return lock.Terms(s.Directory.LockTerms(s.Provider.Name, s.Settings.Stack.Text))
}

// Open opens the stacks for an operation. Broken sidecars are repaired on
// the way; broken states, too, if restore is set.
func (l *Locked) Open(ctx context.Context, copies encryption.Copies, restore bool) (*Open, error) {
	work, err := l.workDir()
	if err != nil {
		return nil, err
	}
	if err := l.recordTerm(); err != nil { // before Pulumi locks anything
		return nil, failure.RunnerDir(err)
	}
	o := &Open{Held: l, Generated: copies.Generated}
	o.Reading, err = l.open(ctx, work, copies)
	if broken, ok := errors.AsType[*statefiles.BrokenError](err); ok && (restore || statefiles.OnlySidecars(broken.Broken)) {
		if err := l.restore(broken.Broken); err != nil {
			return nil, err
		}
		o.Restored = !statefiles.OnlySidecars(broken.Broken)
		o.Reading, err = l.open(ctx, work, copies)
	}
	if err != nil {
		return nil, err
	}
	return o, o.reachSelected()
}

// restore repairs broken states and sidecars.
func (l *Locked) restore(broken []statefiles.Broken) error {
	err := l.States().Restore(l.Deps.Stderr, broken, l.Backups())
	if _, isAdvised := errors.AsType[*failure.Environment](err); isAdvised {
		return err
	}
	return failure.RunnerDir(err)
}

// reachSelected returns an error if the backend of a selected project has not answered. The others can be worked on
// without it.
func (r *Reading) reachSelected() error {
	for _, project := range r.selected() {
		if err := r.Stacks.Reach(project); err != nil {
			return &failure.Environment{
				Text: fmt.Sprintf("the backend of %s does not answer: %v", project, err),
				Next: "log in with `runner login`, or run the projects of other backends with --only or --skip",
			}
		}
	}
	return nil
}

// selected lists the projects that a run is about: all of the plan where the selection is not valid, which is reported
// elsewhere.
func (s *Resolved) selected() []string {
	if selected, err := plan.Select(s.Plan, s.Options.Selection); err == nil {
		return selected.Names()
	}
	return s.Plan.Names()
}

// Backups returns the directory for copies of what the run replaces.
func (l *Locked) Backups() string { return l.Directory.Backups(l.RunID) }

// workPrefix begins names of work directories, which end with @ and the environment.
const workPrefix = "run-"

// workDir makes a directory for working copies, and the directory of the states,
// without which Pulumi refuses to work. It removes the directories of runs of this
// environment that were killed: their lock is held here, so none still works.
func (l *Locked) workDir() (string, error) {
	parent, ending := l.Directory.Work(), "@"+l.Provider.Name+"-"+l.Settings.Stack.Text
	if err := errors.Join(os.MkdirAll(parent, 0o700), l.States().Make()); err != nil {
		return "", failure.RunnerDir(err)
	}
	entries, err := os.ReadDir(parent)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), workPrefix) && strings.HasSuffix(entry.Name(), ending) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(parent, entry.Name())))
		}
	}
	if err != nil {
		return "", failure.RunnerDir(err)
	}
	return makeTemp(l.Resolved, parent, workPrefix+"*"+ending)
}

// TempDir makes a directory outside the root that Close removes.
func (s *Resolved) TempDir() (string, error) { return makeTemp(s, "", "mara-*") }

func makeTemp(s *Resolved, parent, pattern string) (string, error) {
	directory, err := os.MkdirTemp(parent, pattern)
	if err != nil {
		return "", failure.RunnerDir(err)
	}
	s.OnClose(func() error { return os.RemoveAll(directory) })
	return directory, nil
}

// RunLock returns the environment's lock. It is in the backends of the projects that are selected, and in that of the
// environment.
func (s *Resolved) RunLock() lock.Environment {
	settings := s.Settings
	if selected := s.selected(); len(selected) > 0 {
		settings.Elsewhere = maps.Clone(settings.Elsewhere)
		maps.DeleteFunc(settings.Elsewhere, func(project string, _ config.Value) bool { return !slices.Contains(selected, project) })
	}
	return lock.Environment{
		Path:     s.Directory.Lock(s.Provider.Name, s.Settings.Stack.Text),
		Settings: settings, Wait: s.Options.LockTimeout, Waiting: s.Options.Waiting.teller(s.Deps.Stderr),
		Bucket: func(ctx context.Context, backend, dir string) (lock.Store, error) {
			return bucket(ctx, s, backend, dir)
		},
		OnClose: s.OnClose,
		Warn:    func(text string) { s.Warnings = append(s.Warnings, text) },
	}
}

// stackLocks opens the store of Pulumi's locks on stacks. It is nil if only the backend's list of stacks shows them.
func stackLocks(s *Resolved) func(context.Context) (statefiles.LockStore, error) {
	states := s.States()
	in := func(ctx context.Context, project string) (statefiles.LockStore, error) {
		if one := states.Of(project); one.Path != "" {
			return one.LockFiles(), nil
		}
		return bucket(ctx, s, s.Settings.BackendOf(project).Text, filepath.ToSlash(layout.State("").Locks()))
	}
	return func(ctx context.Context) (statefiles.LockStore, error) {
		all, err := in(ctx, "")
		if err != nil || all == nil || len(s.Settings.Elsewhere) == 0 {
			return all, err
		}
		stores := statefiles.LockStores{Of: map[string]statefiles.LockStore{"": all}, Elsewhere: map[string]string{}}
		for project, backend := range s.Settings.Elsewhere {
			stores.Elsewhere[project] = backend.Text
			if stores.Of[backend.Text] != nil {
				continue
			}
			if stores.Of[backend.Text], err = in(ctx, project); err != nil || stores.Of[backend.Text] == nil {
				return nil, err
			}
		}
		return stores, nil
	}
}

// objects is a directory in a bucket, for the runner's locks and for Pulumi's.
type objects interface {
	lock.Store
	statefiles.LockStore
}

// bucket returns a directory in the bucket of a backend, or nil without mara-engine.
func bucket(ctx context.Context, s *Resolved, backend, dir string) (objects, error) {
	if config.IsManaged(backend) {
		return nil, nil
	}
	e, err := s.Engine(ctx)
	if err != nil {
		return nil, err
	}
	if found, err := engine.Find(s.Deps.Engines, s.Options.Pulumi); err != nil || !found.Embedded {
		return nil, err
	}
	return engine.Bucket{Engine: e, URL: backend, Directory: dir, Dir: s.Settings.Root,
		Env: process.Environ(s.Env)}, nil
}
