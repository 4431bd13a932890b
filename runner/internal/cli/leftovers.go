package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"mara/runner/internal/event"
	"mara/runner/internal/journal"
	"mara/runner/internal/lock"
	"mara/runner/internal/plan"
	"mara/runner/internal/stacks"
)

// leftLock is a lock of Pulumi's on a stack.
type leftLock struct {
	Project string
	Holder  string // who, and since when
	Dead    bool   // its process ran on this machine and is gone
	File    string // "" where the backend keeps no files
}

// String says whose lock it is.
func (l leftLock) String() string {
	text := l.Project + " is locked by " + l.Holder
	if l.Dead {
		text += ", which is gone"
	}
	return text
}

// leftLocks are Pulumi's locks on the stacks of a plan.
func (s *session) leftLocks(p plan.Plan) ([]leftLock, error) {
	var left []leftLock
	host, _ := os.Hostname()
	folder, isFile := s.stateFolder()
	for _, step := range p.Steps {
		project := step.Project.Name
		if !isFile {
			if s.stacks.Summary(project).Updating {
				left = append(left, leftLock{Project: project, Holder: "an update, says the backend"})
			}
			continue
		}
		locks, err := s.stacks.Locks(folder, project)
		if err != nil {
			return nil, err
		}
		for _, l := range locks {
			left = append(left, leftLock{Project: project, Holder: l.String(), File: l.File, Dead: l.Broken || l.Host == host && !lock.IsAlive(l.PID)})
		}
	}
	return left, nil
}

// leftPending are the operations on resources that were cut off. A state that
// is no file is asked for only if there is a reason: each question is a command.
func (s *session) leftPending(ctx context.Context, p plan.Plan, ask bool) ([]stacks.Pending, error) {
	folder, isFile := s.stateFolder()
	if !isFile && !ask {
		return nil, nil
	}
	found := make([][]stacks.Pending, len(p.Steps))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(defaultParallel)
	for i, step := range p.Steps {
		group.Go(func() error {
			var err error
			if isFile {
				found[i], err = s.stacks.PendingInFolder(folder, step.Project.Name)
			} else {
				found[i], err = s.stacks.Pending(ctx, step.Project.Name)
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

// checkLeftovers finds what an earlier run that was cut off has left on the
// stacks, before anything starts.
func (s *session) checkLeftovers(ctx context.Context, o operateOptions, w work) error {
	if o.Operation == event.Preview || o.Operation == event.Drift {
		return nil // they change nothing, and Pulumi lets them
	}
	if o.Selection.Resume {
		if err := s.takeOverLocks(w.plan); err != nil {
			return err
		}
	}
	locks, err := s.leftLocks(w.plan)
	if err != nil {
		return err
	}
	if len(locks) > 0 {
		return &lockedStacksError{locks: locks, unlock: s.command("unlock", o)}
	}
	pending, err := s.leftPending(ctx, w.plan, s.takenOver || s.wasCutOff())
	if err != nil {
		return err
	}
	blocking, harmless := splitPending(pending, o.Operation)
	lingering := map[string]string{} // to be forgotten
	for _, p := range harmless {
		if p.Lingers() {
			lingering[p.URN] = ""
		}
		s.warnings = append(s.warnings, fmt.Sprintf("%s: an earlier run was cut off at %s", p.Project, p))
	}
	if len(blocking) > 0 {
		return &pendingError{pending: blocking, repair: s.command("repair", o)}
	}
	return s.adopt(ctx, slices.DeleteFunc(pending, func(p stacks.Pending) bool { return !p.Lingers() }), lingering)
}

// takeOverLocks removes the locks on stacks whose owners died on this machine.
// The environment's own lock is held: nobody else carries on at the same time.
func (s *session) takeOverLocks(p plan.Plan) error {
	dead, err := s.removeDeadLocks(p)
	for _, l := range dead {
		s.warnings = append(s.warnings, fmt.Sprintf("%s; the lock is taken over", l))
	}
	return err
}

// removeDeadLocks removes the locks that nobody holds any more and tells which
// they were. It does what `pulumi cancel` would, but leaves the locks of others
// alone.
func (s *session) removeDeadLocks(p plan.Plan) (removed []leftLock, err error) {
	locks, err := s.leftLocks(p)
	for _, l := range locks {
		if !l.Dead || l.File == "" {
			continue
		}
		if err := os.Remove(l.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, s.folderError(err)
		}
		removed = append(removed, l)
	}
	return removed, err
}

// splitPending separates what has to be put right before an operation from what
// the operation simply does again. A refresh finds out itself.
func splitPending(pending []stacks.Pending, operation string) (blocking, harmless []stacks.Pending) {
	for _, p := range pending {
		if p.Blocks() && operation != event.Refresh {
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
func (s *session) wasCutOff() bool {
	runs, err := journal.List(s.runsFolder())
	if err != nil {
		return false // it says nothing
	}
	for _, run := range runs {
		summary, err := run.Summary()
		if err != nil || summary.Provider != s.provider.Name || summary.Stack != s.settings.Stack.Text {
			continue
		}
		if summary.Operation != event.Preview && summary.Operation != event.Drift {
			return summary.Result == ""
		}
	}
	return false
}

// command is a command on the same environment, for people to type.
func (s *session) command(name string, o operateOptions) string {
	return s.commandLine(name, o.Simulation.On)
}

func (s *session) commandLine(name string, simulated bool) string {
	text := "runner " + name + " -s " + s.settings.Stack.Text
	if simulated {
		text += " --simulate"
	}
	return text
}

// lockedStacksError says that stacks are locked.
type lockedStacksError struct {
	locks  []leftLock
	unlock string
}

// Error lists the locks.
func (e *lockedStacksError) Error() string {
	var parts []string
	for _, l := range e.locks {
		parts = append(parts, l.String())
	}
	return strings.Join(parts, "; ")
}

// NextStep says how to get rid of them.
func (e *lockedStacksError) NextStep() string {
	return "if no Pulumi works on them any more, `" + e.unlock + "` removes the locks"
}

// pendingError says that nobody knows whether some resources exist.
type pendingError struct {
	pending []stacks.Pending
	repair  string
}

// Error lists the resources.
func (e *pendingError) Error() string {
	return "an earlier run was cut off while it created resources, which may exist without being in the state: " + pendingList(e.pending)
}

// NextStep says how to put the state in order.
func (e *pendingError) NextStep() string { return "put it right with `" + e.repair + "`" }
