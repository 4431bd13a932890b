package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mara/config"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/leftovers"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/feature/kind"
	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// opener opens the backend at its first call.
type opener func() (*session.Reading, error)

func (e *Examination) openOnce(ctx context.Context, start func() (engine.Engine, error)) opener {
	return sync.OnceValues(func() (*session.Reading, error) {
		if _, err := start(); err != nil {
			return nil, errNoEngine
		}
		ctx, cancel := context.WithTimeout(ctx, backendTime-time.Second) // so that it ends before the checks do
		defer cancel()
		s, err := e.Session.Read(ctx, encryption.Copies{})
		e.stacks = s.Stacks
		return s, err
	})
}

// stateChecks returns the checks of the backend and of leftovers of earlier runs.
func (e *Examination) stateChecks(open opener) []preflight.Check {
	ofStacks := func(name, title string, look func(context.Context, *session.Reading) []preflight.Finding) preflight.Check {
		return preflight.Check{Name: name, Title: title, Group: preflight.State, Limit: backendTime,
			Look: e.resolved(opened(open, look))}
	}
	checks := []preflight.Check{
		{Name: "backend", Title: "backend", Group: preflight.State, Limit: backendTime, Look: e.resolved(e.backend(open))},
		{Name: "lock", Title: "run lock", Group: preflight.State, Look: e.resolved(e.runLock)},
		ofStacks("stack-locks", "stack locks", e.stackLocks),
		ofStacks("pending", "pending operations", e.pending),
		ofStacks("orphans", "orphans", e.orphans),
	}
	if e.Provider.Local && !e.Options.Simulation.On {
		checks = slices.Insert(checks, 1, ofStacks("containers", "containers", e.containers))
	}
	if !e.Options.Operation.Writes() {
		checks = checks[:len(checks)-3] // they change nothing, and Pulumi lets them
	}
	if e.Options.Root == "" {
		return checks
	}
	if e.unresolved != nil {
		return append(checks, preflight.Disk(runDirs(e.Options.Request)))
	}
	return append(checks, disk(e.Session))
}

// errNoEngine is the error of checks that need the engine if it does not run; another
// check reports why.
var errNoEngine = errors.New("not looked at: it takes Pulumi to ask")

// opened skips a look while the backend cannot be opened.
func opened(open opener, look func(context.Context, *session.Reading) []preflight.Finding) preflight.Look {
	return func(ctx context.Context) []preflight.Finding {
		switch s, err := open(); {
		case err == nil:
			return look(ctx, s)
		case errors.Is(err, errNoEngine):
			return preflight.Unseen(err.Error())
		}
		return preflight.Unseen("not looked at: the backend does not answer")
	}
}

// backend looks whether each backend answers, and what is deployed there.
func (e *Examination) backend(open opener) preflight.Look {
	return func(context.Context) []preflight.Finding {
		s, err := open()
		if errors.Is(err, errNoEngine) {
			return preflight.Unseen(err.Error())
		}
		if _, isBroken := errors.AsType[*statefiles.BrokenError](err); isBroken {
			return findings(err)
		}
		if err != nil { // it says which of them it is about
			return e.oneBackend(s, s.Settings.Backend, err)
		}
		found := e.oneBackend(s, s.Settings.Backend, s.Stacks.ReachBackend(config.Value{}))
		for _, other := range s.Settings.InEach()[1:] {
			found = append(found, e.oneBackend(s, other.Backend, s.Stacks.ReachBackend(other.Backend))...)
		}
		return found
	}
}

// oneBackend says what is deployed in a backend. unreached is why it does not answer.
func (e *Examination) oneBackend(s *session.Reading, backend config.Value, unreached error) []preflight.Finding {
	where := fmt.Sprintf("%s (%s)", event.MaskURLs(backend.Text), backend.Origin)
	if unreached != nil {
		next := "log in with `runner login`, or set " + config.BackendVariable + " to a place that can be reached"
		if advised, ok := errors.AsType[interface {
			error
			NextStep() string
		}](unreached); ok {
			next = advised.NextStep()
		}
		return preflight.Bad(fmt.Sprintf("%s: %v", where, unreached), next)
	}
	there, deployed := 0, 0
	for _, step := range e.plan.Steps {
		if !config.SameBackend(s.Settings.BackendOf(step.Project.Name).Text, backend.Text) {
			continue
		}
		there++
		if s.Stacks.IsDeployed(step.Project.Name) {
			deployed++
		}
	}
	if !s.States().MayHaveStates() {
		return preflight.Good(where + " has nothing yet")
	}
	return preflight.Good(fmt.Sprintf("%s answers; %s %s deployed", where, typeset.CountedOf(deployed, there, "project"),
		typeset.Are(deployed)))
}

// containers looks at the nodes and the registry of an environment whose cluster runs on this machine.
func (e *Examination) containers(ctx context.Context, s *session.Reading) []preflight.Finding {
	if !s.Stacks.IsDeployed(e.Provider.ClusterProject) {
		return preflight.Unseen("the cluster is not deployed")
	}
	hooks := s.Hooks()
	runtime, err := containers.FindIn(hooks.Env, hooks.Runtime)
	if err == nil {
		_, err = runtime.Info(ctx)
	}
	if err != nil {
		return preflight.Unseen("the container runtime does not answer")
	}
	found, err := kind.Find(ctx, s)
	if _, isKnown := errors.AsType[*failure.Environment](err); isKnown {
		gone := findings(err)
		gone[0].Status = preflight.Warning
		return gone
	}
	if err != nil {
		return preflight.Unseen(err.Error())
	}
	if halted := found.Halted(); len(halted) > 0 {
		return preflight.Doubtful("containers that do not run: "+strings.Join(halted, ", "),
			"`"+s.Command("start")+"` starts them, and so does an up")
	}
	return preflight.Good("all run")
}

// runLock looks for another run.
func (e *Examination) runLock(ctx context.Context) []preflight.Finding {
	state, owner, err := e.Session.RunLock().Inspect()
	switch {
	case err != nil:
		return findings(err)
	case state == lock.Held || state == lock.Foreign:
		return findings(&lock.HeldError{Owner: owner, Foreign: state == lock.Foreign})
	case state != lock.Free:
		text := fmt.Sprintf("the last run (%s, %s by %s) did not end properly", owner.Run, owner.Operation, owner)
		return preflight.Doubtful(text, "the next run takes its lock over")
	}
	return e.lockInBackend(ctx)
}

// lockInBackend looks for a run on another machine.
func (e *Examination) lockInBackend(ctx context.Context) []preflight.Finding {
	_, left, err := e.Session.RunLock().InBackend(ctx)
	if err != nil {
		return findings(err)
	}
	for _, other := range left {
		if !other.IsDead() {
			return findings(&lock.HeldError{Owner: other.Owner, Foreign: !other.IsHeld()})
		}
	}
	if text := config.Apart(e.Session.Settings.Backend.Text); text != "" {
		return preflight.Good("no other run on this machine works on the environment; " + text)
	}
	return preflight.Good("no other run works on the environment")
}

// stackLocks looks for Pulumi's own locks.
func (e *Examination) stackLocks(ctx context.Context, s *session.Reading) []preflight.Finding {
	if err := s.Leftovers().RefuseLocked(ctx, e.plan.Names()); err != nil {
		return findings(err)
	}
	return preflight.Good("no stack is locked")
}

// orphans looks for stacks that no project claims.
func (e *Examination) orphans(ctx context.Context, s *session.Reading) []preflight.Finding {
	found, err := inventory.FindUnclaimed(ctx, s)
	switch {
	case err != nil:
		return findings(err)
	case len(found.Orphans) > 0:
		return preflight.Doubtful(found.Text(), found.Remedy(s.Command))
	}
	return preflight.Good("every stack belongs to a project")
}

// pending looks for operations on resources that were cut off.
func (e *Examination) pending(ctx context.Context, s *session.Reading) []preflight.Finding {
	pending, err := s.Leftovers().Pending(ctx, e.plan, true)
	if err != nil {
		return findings(err)
	}
	blocking, harmless := leftovers.Split(pending, e.Options.Operation)
	var found []preflight.Finding
	if len(blocking) > 0 {
		found = findings(&leftovers.PendingError{Pending: blocking, Repair: s.Command("repair")})
	}
	if len(harmless) > 0 {
		text := "an earlier run was cut off at " + leftovers.List(harmless)
		found = append(found, preflight.Doubtful(text, "nothing: the next run repeats it")...)
	}
	if len(found) == 0 {
		return preflight.Good("none")
	}
	return found
}
