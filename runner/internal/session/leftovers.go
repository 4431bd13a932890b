package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"mara/operation"
	"mara/runner/internal/journal"
	"mara/runner/internal/lock"
	"mara/runner/internal/plan"
	"mara/runner/internal/stacks"
)

// atOnce is how many stacks are asked about at the same time.
const atOnce = 4

// LeftLock is a lock of Pulumi's on a stack.
type LeftLock struct {
	Project string
	Holder  string // who, and since when
	Dead    bool   // its process ran on this machine and is gone
	File    string // "" where the backend keeps no files
}

// String says whose lock it is.
func (l LeftLock) String() string {
	text := l.Project + " is locked by " + l.Holder
	if l.Dead {
		text += ", which is gone"
	}
	return text
}

// LeftLocks are Pulumi's locks on the stacks of a plan.
func (s *Session) LeftLocks(p plan.Plan) ([]LeftLock, error) {
	var left []LeftLock
	host, _ := os.Hostname()
	folder, isFile := s.StateFolder()
	for _, step := range p.Steps {
		project := step.Project.Name
		if !isFile {
			if s.Stacks.Summary(project).Updating {
				left = append(left, LeftLock{Project: project, Holder: "an update, says the backend"})
			}
			continue
		}
		locks, err := s.Stacks.Locks(folder, project)
		if err != nil {
			return nil, err
		}
		for _, l := range locks {
			left = append(left, LeftLock{Project: project, Holder: l.String(), File: l.File, Dead: l.Broken || l.Host == host && !lock.IsAlive(l.PID)})
		}
	}
	return left, nil
}

// LeftPending are the operations on resources that were cut off. A state that
// is no file is asked for only if there is a reason: each question is a command.
func (s *Session) LeftPending(ctx context.Context, p plan.Plan, ask bool) ([]stacks.Pending, error) {
	folder, isFile := s.StateFolder()
	if !isFile && !ask {
		return nil, nil
	}
	found := make([][]stacks.Pending, len(p.Steps))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, step := range p.Steps {
		group.Go(func() error {
			var err error
			if isFile {
				found[i], err = s.Stacks.PendingInFolder(folder, step.Project.Name)
			} else {
				found[i], err = s.Stacks.Pending(ctx, step.Project.Name)
			}
			return err
		})
	}
	err := group.Wait()
	var pending []stacks.Pending
	for _, part := range found {
		pending = append(pending, part...)
	}
	return pending, err
}

// CheckLeftovers finds what an earlier run that was cut off has left on the
// stacks, before anything starts.
func (s *Session) CheckLeftovers(ctx context.Context, op operation.Operation, p plan.Plan, resume bool) error {
	if !op.Writes() {
		return nil // they change nothing, and Pulumi lets them
	}
	if resume {
		if err := s.takeOverLocks(p); err != nil {
			return err
		}
	}
	locks, err := s.LeftLocks(p)
	if err != nil {
		return err
	}
	if len(locks) > 0 {
		return &LockedStacksError{Locks: locks, Unlock: s.CommandLine("unlock")}
	}
	pending, err := s.LeftPending(ctx, p, s.takenOver || s.wasCutOff())
	if err != nil {
		return err
	}
	blocking, harmless := splitPending(pending, op)
	lingering := map[string]string{} // to be forgotten
	for _, p := range harmless {
		if p.Lingers() {
			lingering[p.URN] = ""
		}
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: an earlier run was cut off at %s", p.Project, p))
	}
	if len(blocking) > 0 {
		return &PendingError{Pending: blocking, Repair: s.CommandLine("repair")}
	}
	return s.Adopt(ctx, slices.DeleteFunc(pending, func(p stacks.Pending) bool { return !p.Lingers() }), lingering)
}

// takeOverLocks removes the locks on stacks whose owners died on this machine.
// The environment's own lock is held: nobody else carries on at the same time.
func (s *Session) takeOverLocks(p plan.Plan) error {
	dead, err := s.RemoveDeadLocks(p)
	for _, l := range dead {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s; the lock is taken over", l))
	}
	return err
}

// RemoveDeadLocks removes the locks that nobody holds any more and tells which
// they were. It does what `pulumi cancel` would, but leaves the locks of others
// alone.
func (s *Session) RemoveDeadLocks(p plan.Plan) (removed []LeftLock, err error) {
	locks, err := s.LeftLocks(p)
	for _, l := range locks {
		if !l.Dead || l.File == "" {
			continue
		}
		if err := os.Remove(l.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, s.FolderError(err)
		}
		removed = append(removed, l)
	}
	return removed, err
}

// splitPending separates what has to be put right before an operation from what
// the operation simply does again. A refresh finds out itself.
func splitPending(pending []stacks.Pending, op operation.Operation) (blocking, harmless []stacks.Pending) {
	for _, p := range pending {
		if p.Blocks() && !op.ComparesState() {
			blocking = append(blocking, p)
		} else {
			harmless = append(harmless, p)
		}
	}
	return blocking, harmless
}

// pendingList names operations that were cut off.
func pendingList(pending []stacks.Pending) string {
	var parts []string
	for _, p := range pending {
		parts = append(parts, p.Project+": "+p.String())
	}
	return strings.Join(parts, "; ")
}

// wasCutOff reports whether the last run that may have changed the environment
// never came to its end.
func (s *Session) wasCutOff() bool {
	runs, err := journal.List(s.RunsFolder())
	if err != nil {
		return false // it says nothing
	}
	for _, run := range runs {
		summary, err := run.Summary()
		if err != nil || summary.Provider != s.Provider.Name || summary.Stack != s.Settings.Stack.Text {
			continue
		}
		if summary.Operation.Writes() {
			return summary.Result == ""
		}
	}
	return false
}

// CommandLine is a command on the same environment, for people to type.
func (s *Session) CommandLine(name string) string {
	text := "runner " + name + " -s " + s.Settings.Stack.Text
	if s.options.Simulation.On {
		text += " --simulate"
	}
	return text
}

// LockedStacksError says that stacks are locked.
type LockedStacksError struct {
	Locks  []LeftLock
	Unlock string
}

// Error lists the locks.
func (e *LockedStacksError) Error() string {
	var parts []string
	for _, l := range e.Locks {
		parts = append(parts, l.String())
	}
	return strings.Join(parts, "; ")
}

// NextStep says how to get rid of them.
func (e *LockedStacksError) NextStep() string {
	return "if no Pulumi works on them any more, `" + e.Unlock + "` removes the locks"
}

// PendingError says that nobody knows whether some resources exist.
type PendingError struct {
	Pending []stacks.Pending
	Repair  string
}

// Error lists the resources.
func (e *PendingError) Error() string {
	return "an earlier run was cut off while it created resources, which may exist without being in the state: " + pendingList(e.Pending)
}

// NextStep says how to put the state in order.
func (e *PendingError) NextStep() string { return "put it right with `" + e.Repair + "`" }
