// Package leftovers finds what a run that was cut off has left on the stacks of
// an environment, locks of Pulumi and operations on resources whose result
// is unknown, and repairs it.
package leftovers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/projects/model/cloud"
	"mara/projects/model/operation"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/parallel"
)

// How often locks are looked at that others hold: files, and what takes a request.
const (
	lockInterval    = 200 * time.Millisecond
	requestInterval = time.Second
)

// endingTime is how long a resumed run waits for the engines of a killed one, which put their states
// in order after their runner is gone.
const endingTime = 10 * time.Second

// removeTime is how long removing locks after a run may take, even if it was
// interrupted.
const removeTime = 30 * time.Second

// Finder finds leftovers of one environment.
type Finder struct {
	Stacks *stacks.Set
	States statefiles.Directory
	// LockStore opens the backend's store of Pulumi's locks; nil if only its list of
	// stacks shows locks.
	LockStore func(context.Context) (statefiles.LockStore, error)
	// Terms records the runs of the environment, which proves that a process has ended.
	Terms lock.Terms
	// Locate asks the cloud for resources of these types that exist; nil where it cannot
	// be asked.
	Locate func(ctx context.Context, types []string) (cloud.Located, error)
	// Projects are all of the environment.
	Projects []string
	// Command is a command on the same environment, for people to type.
	Command func(name string) string
	Wait    time.Duration     // how long Find waits for others who have locked stacks
	Waiting func(text string) // receives a line when it starts to wait
}

// Lock is a lock of Pulumi's on a stack.
type Lock struct {
	Project string
	Holder  string // who, and since when
	Dead    bool   // it is certain that its process ran on this machine and is gone
	ending  bool   // it is certain that the run at its time was on this machine and is gone
	key     string // in the store; "" where there is none
	update  string // at Pulumi Cloud; "" for other backends
}

// String says whose lock it is.
func (l Lock) String() string {
	text := l.Project + " is locked by " + l.Holder
	if l.Dead {
		text += ", which is gone"
	}
	return text
}

// Locks lists Pulumi's locks on the stacks of projects.
func (f Finder) Locks(ctx context.Context, projects []string) ([]Lock, error) {
	store, err := f.LockStore(ctx)
	if err != nil {
		return nil, err
	}
	if store == nil && f.Stacks == nil {
		return nil, errors.New("only the list of stacks shows their locks, and it could not be read")
	}
	if store == nil {
		left, err := f.updates(ctx, projects)
		if err != nil {
			return nil, err
		}
		for _, project := range projects {
			if f.Stacks.Summary(project).Updating {
				left = append(left, Lock{Project: project, Holder: "an update, says the backend"})
			}
		}
		return left, nil
	}
	locks, err := f.States.Locks(ctx, store, projects)
	if err != nil {
		return nil, &failure.Environment{Text: err.Error(), Next: "Pulumi stores them in the backend, next to the states"}
	}
	return lists.Map(locks, func(l statefiles.Lock) Lock {
		return Lock{
			Project: l.Project, Holder: l.String(), Dead: f.isDead(l), ending: f.Terms.IsOver(l.Created), key: l.Key,
		}
	}), nil
}

// updates lists the updates at Pulumi Cloud that hold stacks. Those that a process on this machine has begun are dead
// once it is gone: it has written down which they are.
func (f Finder) updates(ctx context.Context, projects []string) ([]Lock, error) {
	running, err := stacks.AtService{Set: f.Stacks}.Running(ctx, projects)
	return lists.Map(running, func(r stacks.Running) Lock {
		holder := fmt.Sprintf("the %s of %s since %s", r.Kind, r.Author, r.Started.Format(time.DateTime))
		if r.Author == "" { // of a server that says less
			holder = "an update that was begun here"
		}
		l := Lock{Project: r.Project, Holder: holder, update: r.ID}
		if r.Begun != nil {
			began := time.UnixMilli(r.Begun.Started)
			l.Dead, l.ending = f.Terms.IsGone(r.Begun.Host, r.Begun.PID, began), f.Terms.IsOver(began)
		}
		return l
	}), err
}

// isDead reports whether it is certain that the holder of a lock is gone. The name of
// its machine proves nothing: two containers with one name may share a disk. Where it
// is not certain, `runner unlock` asks the user.
func (f Finder) isDead(l statefiles.Lock) bool {
	if l.Broken {
		return f.Terms.IsOver(l.Created)
	}
	if !f.States.Of(l.Project).IsFile() && l.User != lock.Self("", "", time.Time{}).User {
		return false // a bucket is shared by more machines than a disk
	}
	return f.Terms.IsGone(l.Host, l.PID, l.Created)
}

// Pending lists the operations on resources that were cut off. States that are not
// files are read only if ask is set, because each takes a command.
func (f Finder) Pending(ctx context.Context, p plan.Plan, ask bool) ([]stacks.Pending, error) {
	if !f.States.IsFile() && !ask {
		return nil, nil
	}
	found, err := parallel.Each(ctx, p.Names(), f.Stacks.Pending)
	return slices.Concat(found...), err
}

// Found is what Find has found and Clear removes.
type Found struct {
	Warnings  []string
	dead      []Lock           // of processes that are gone
	lingering []stacks.Pending // creations that happened in the engine alone
	// Identified are creations whose end the cloud knows: what exists has to be imported
	// and refreshed, the rest is created again.
	Identified []Identity
}

// Find looks for what is in the way of an operation, and changes nothing. The
// error names what the user has to look at; the rest is for Clear to remove
// once the user has agreed. With resume, locks of processes that are gone belong
// to the rest.
func (f Finder) Find(ctx context.Context, op operation.Operation, p plan.Plan, resume, ask bool) (Found, error) {
	var found Found
	if !op.Writes() {
		return found, nil // Pulumi lets it work beside locks and pending operations
	}
	locks, err := f.awaitLocks(ctx, p, resume)
	if err != nil {
		return found, err
	}
	if resume {
		found.dead, locks = Dead(locks)
		for _, l := range found.dead {
			found.Warnings = append(found.Warnings, fmt.Sprintf("%s; the lock is taken over", l))
		}
	}
	if len(locks) > 0 {
		return found, f.Locked(locks)
	}
	pending, err := f.Pending(ctx, p, ask)
	if err != nil {
		return found, err
	}
	blocking, harmless := Split(pending, op)
	if resume {
		if blocking, err = f.identifyInto(ctx, &found, blocking); err != nil {
			return found, err
		}
	}
	if len(blocking) > 0 {
		return found, &PendingError{Pending: blocking, Repair: f.Command("repair"), Resumed: resume}
	}
	for _, p := range harmless {
		found.Warnings = append(found.Warnings, fmt.Sprintf("%s: an earlier run was cut off at %s", p.Project, p))
	}
	found.lingering, _ = split(harmless, stacks.Pending.Lingers)
	return found, nil
}

// identifyInto moves the creations whose end the cloud knows to found, and returns
// the others.
func (f Finder) identifyInto(ctx context.Context, found *Found, blocking []stacks.Pending) ([]stacks.Pending, error) {
	identities, err := f.Identify(ctx, f.Projects, blocking)
	if err != nil {
		return nil, err
	}
	known, unknown := split(identities, Identity.IsKnown)
	for _, i := range known {
		fate := "is created again"
		if i.ID != "" {
			fate = "is imported"
		}
		found.Warnings = append(found.Warnings, fmt.Sprintf("an earlier run was cut off: %s, and %s", i, fate))
	}
	found.Identified = known
	return lists.Map(unknown, func(i Identity) stacks.Pending { return i.Pending }), nil
}

// awaitLocks waits until all processes that hold locks have ended or the time is
// up, and returns the remaining locks. Engines of a killed run may still be
// finishing their states: a resumed run waits for them in any case.
func (f Finder) awaitLocks(ctx context.Context, p plan.Plan, resume bool) ([]Lock, error) {
	began, waited := time.Now(), false
	for {
		locks, err := f.Locks(ctx, p.Names())
		_, held := Dead(locks)
		wait := f.Wait
		if lasting := slices.ContainsFunc(held, func(l Lock) bool { return !l.ending }); resume && !lasting {
			wait = max(wait, endingTime)
		}
		if err != nil || len(held) == 0 || time.Since(began) >= wait {
			if err == nil && waited { // another process may have created or removed stacks
				err = f.Stacks.List(ctx)
			}
			return locks, err
		}
		if !waited {
			f.Waiting(fmt.Sprintf("waiting up to %s: %s", wait, held[0]))
			waited = true
		}
		pause := requestInterval
		if f.States.IsFile() {
			pause = lockInterval
		}
		if err := interrupt.Sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("waiting for Pulumi's locks: %w", err)
		}
		if held[0].key == "" { // the list alone tells of it
			if err := f.Stacks.List(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// Clear removes what was found: locks of processes that are gone, and creations
// that happened in the engine alone.
func (f Finder) Clear(ctx context.Context, found Found) error {
	if err := f.Remove(ctx, found.dead); err != nil {
		return err
	}
	forget := map[string]string{}
	for _, p := range found.lingering {
		forget[p.URN] = ""
	}
	return f.Adopt(ctx, found.lingering, forget)
}

// RemoveDeadLocks removes the locks of processes on this machine that are gone, also
// after an interruption. It does what `pulumi cancel` would, but leaves the locks of
// others alone.
func (f Finder) RemoveDeadLocks(ctx context.Context, p plan.Plan) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
	defer cancel()
	projects := p.Names()
	if at := (stacks.AtService{Set: f.Stacks}); at.Is() {
		projects = at.HasBegun(projects) // to ask about the others would be a request for each
	}
	locks, err := f.Locks(ctx, projects)
	if err != nil {
		return err
	}
	dead, _ := Dead(locks)
	return f.Remove(ctx, dead)
}

// Dead separates the stale locks, which can be removed, from the others.
func Dead(locks []Lock) (dead, others []Lock) {
	return split(locks, func(l Lock) bool { return l.Dead })
}

// Remove removes stale locks.
func (f Finder) Remove(ctx context.Context, locks []Lock) error {
	if len(locks) == 0 {
		return nil
	}
	store, err := f.LockStore(ctx)
	for _, l := range locks {
		switch {
		case err != nil:
			return err
		case l.update != "":
			err = stacks.AtService{Set: f.Stacks}.Cancel(ctx, l.Project, l.update)
		default:
			err = store.Delete(ctx, l.key)
		}
	}
	return err
}

// Split separates the pending operations that must be repaired before an operation
// from those which the operation simply repeats. A refresh finds out itself.
func Split(pending []stacks.Pending, op operation.Operation) (blocking, harmless []stacks.Pending) {
	return split(pending, func(p stacks.Pending) bool { return p.Blocks() && !op.ComparesState() })
}

// split separates the elements that fulfil a condition from the others.
func split[T any](all []T, is func(T) bool) (yes, no []T) {
	for _, one := range all {
		if is(one) {
			yes = append(yes, one)
		} else {
			no = append(no, one)
		}
	}
	return yes, no
}

// List names operations that were cut off.
func List(pending []stacks.Pending) string {
	operations := lists.Map(pending, func(p stacks.Pending) string { return p.Project + ": " + p.String() })
	return strings.Join(operations, "; ")
}

// RefuseLocked returns an error if stacks of the projects are locked.
func (f Finder) RefuseLocked(ctx context.Context, projects []string) error {
	locks, err := f.Locks(ctx, projects)
	if err == nil && len(locks) > 0 {
		err = f.Locked(locks)
	}
	return err
}

// Locked returns the error for locks that are in the way.
func (f Finder) Locked(locks []Lock) error {
	_, held := Dead(locks)
	return &LockedError{Locks: locks, Unlock: f.Command("unlock"), Passes: len(held) > 0 && f.Wait == 0}
}

// LockedError says that stacks are locked.
type LockedError struct {
	Locks  []Lock
	Unlock string // the command that removes the locks
	Passes bool   // a lock may be in use, and Find has not waited for it
}

// Error lists the locks.
func (e *LockedError) Error() string {
	return strings.Join(lists.Map(e.Locks, Lock.String), "; ")
}

// RefusedBy returns the guard.
func (*LockedError) RefusedBy() refusal.Guard { return refusal.Lock }

// NextStep says how to get rid of them.
func (e *LockedError) NextStep() string {
	text := "if no Pulumi works on them any more, `" + e.Unlock + "` removes the locks"
	if _, held := Dead(e.Locks); len(held) == 0 && len(e.Locks) > 0 {
		text = "--resume takes over the locks of processes that are gone, and `" + e.Unlock + "` removes them"
	}
	if e.Passes {
		text = "wait for them with --lock-timeout; " + text
	}
	return text
}

// PendingError says that it is unknown whether some resources exist.
type PendingError struct {
	Pending []stacks.Pending
	Repair  string // the command that puts the state right
	Resumed bool   // with --resume, so that the cloud was asked
}

// Error lists the resources.
func (e *PendingError) Error() string {
	return "an earlier run was cut off while it created resources, which may exist without being in the state: " +
		List(e.Pending)
}

// NextStep says how to put the state in order.
func (e *PendingError) NextStep() string {
	if e.Resumed {
		return "repair it with `" + e.Repair + "`"
	}
	return "repair it with `" + e.Repair + "`, or with --resume where the cloud can tell what exists"
}
