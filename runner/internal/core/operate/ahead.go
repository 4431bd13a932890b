package operate

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/unchanged"
	"mara/runner/internal/machine/process"
)

// aheadPrograms start the programs of projects while the projects run that they need. A program is held at the first
// thing that it asks of its engine; nobody else hears of it before its turn. What fails here is not told: the program
// starts at its turn then.
//
// Nil starts none.
type aheadPrograms struct {
	stacks *stacks.Set
	task   stacks.Task
	known  *unchanged.Projects // what will be skipped
	looks  *unchanged.Projects // what projects depend on
	plan   plan.Plan
	bound  aheadBound
	debug  func(text, project string, err error)
	shown  *waitingPrograms

	ctx    context.Context //nolint:containedctx // ends the starts that are under way
	cancel context.CancelFunc
	ending sync.WaitGroup // of starts and of ends

	mu      sync.Mutex // guards what follows
	waiting map[string]*aheadProgram
	tried   map[string]bool // these are not started again
}

// aheadProgram is a program that starts or waits.
type aheadProgram struct {
	cancel context.CancelFunc
	begun  chan struct{} // closed when the next two fields are set
	look   unchanged.Look
	ahead  *stacks.Ahead // nil if it could not be started
}

// waitingPrograms are the programs that wait, for the screen, which is there before any of them.
type waitingPrograms struct{ now atomic.Pointer[aheadPrograms] }

// isReady reports whether the program of a project waits.
func (w *waitingPrograms) isReady(project string) bool {
	if w == nil {
		return false
	}
	p := w.now.Load().started(project)
	return p != nil && p.ahead.Ready()
}

// started returns the program of a project if it has been started; nil if it has not, or only begins to.
func (a *aheadPrograms) started(project string) *aheadProgram {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	p := a.waiting[project]
	a.mu.Unlock()
	if p == nil {
		return nil
	}
	select {
	case <-p.begun:
	default:
		return nil
	}
	if p.ahead == nil {
		return nil
	}
	return p
}

// startsAtOnce are the runtimes whose programs run in processes that are there already.
var startsAtOnce = []string{"", "yaml", model.Runtime}

// programMemory is how much memory a program in TypeScript takes.
const programMemory = 400 << 20

// newAhead returns what starts programs for an operator, nil if nothing may start early: in a rollout, each environment
// would, and an installed Pulumi cannot.
func (j *job) newAhead(o operator) *aheadPrograms {
	op := o.task.Operation
	if op != operation.Up && op != operation.Preview || j.Execution.StartAhead == 0 || j.Rollout != nil || j.s.Unchanged != nil ||
		!slices.ContainsFunc(j.w.plan.Steps, func(step plan.Step) bool { return mayStartAhead(step, op) }) {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &aheadPrograms{
		stacks: j.s.Stacks, task: o.task, known: o.known, looks: o.known, plan: j.w.plan, ctx: ctx, cancel: cancel,
		shown: j.starting, waiting: map[string]*aheadProgram{}, tried: map[string]bool{},
		bound: aheadBound{limit: j.Execution.StartAhead, parallel: j.Execution.Parallel, free: process.FreeMemory},
		debug: func(text, project string, err error) { j.s.Log.Debug(text, "project", project, "error", err) },
	}
	if a.looks == nil {
		a.looks = o.reasons
	}
	a.shown.now.Store(a)
	return a
}

// aheadBound is how many programs may wait.
type aheadBound struct {
	limit    int                              // that a person has set; negative for none
	parallel int                              // how many projects run at once
	free     func() (bytes int64, known bool) // memory
}

// allows reports whether another program may start while some wait. Those that still start have not taken yet what they
// will take of the memory.
func (b aheadBound) allows(waiting, starting int) bool {
	if b.limit >= 0 {
		return waiting < b.limit
	}
	if waiting >= b.parallel {
		return false
	}
	free, known := b.free()
	return !known || free > int64(2+starting)*programMemory
}

// isStarting reports whether the program is not held yet.
func (p *aheadProgram) isStarting() bool {
	select {
	case <-p.begun:
		return p.ahead != nil && !p.ahead.Ready()
	default:
		return true
	}
}

// mayStartAhead reports whether the program of a project is a process of its own that takes time to start, and that no
// hook has to come before.
func mayStartAhead(step plan.Step, op operation.Operation) bool {
	own := step.Project.Own
	return own != nil && !slices.Contains(startsAtOnce, own.Runtime) && !hasHook(step, op, model.Before)
}

func hasHook(step plan.Step, op operation.Operation, moments ...model.Moment) bool {
	return slices.ContainsFunc(step.Project.Hooks, func(hook model.Hook) bool {
		return slices.Contains(moments, hook.On) && hook.For(op)
	})
}

// Foresee implements executor.Foreseer.
func (o operator) Foresee(next []executor.Waiting) { o.ahead.foresee(next) }

// foresee starts the programs whose turn comes next, and ends those that will not run.
func (a *aheadPrograms) foresee(next []executor.Waiting) {
	if a == nil {
		return
	}
	runs := map[string]bool{} // by project; those that will not run are missing
	for _, w := range next {
		runs[w.Step.Project.Name] = w.Running
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	waiting, starting := 0, 0
	for name, p := range a.waiting {
		if running, known := runs[name]; !known {
			a.end(name)
		} else if !running {
			waiting++
			if p.isStarting() {
				starting++
			}
		}
	}
	for _, w := range next {
		name := w.Step.Project.Name
		if !w.Running && !a.tried[name] && mayStartAhead(w.Step, a.task.Operation) && !a.waitsForHook(w) && a.bound.allows(waiting, starting) {
			waiting++
			starting++
			a.tried[name] = true
			a.start(w.Step)
		}
	}
}

// waitsForHook reports whether a hook has to come before the program, because it follows what the project needs: what
// such a hook writes may be for the program.
func (a *aheadPrograms) waitsForHook(w executor.Waiting) bool {
	return slices.ContainsFunc(w.For, func(i int) bool {
		return hasHook(a.plan.Steps[i], a.task.Operation, model.Before, model.OnSuccess, model.Always)
	})
}

// start starts a program in the background. The caller holds the lock.
func (a *aheadPrograms) start(step plan.Step) {
	ctx, cancel := context.WithCancel(a.ctx)
	p := &aheadProgram{cancel: cancel, begun: make(chan struct{})}
	a.waiting[step.Project.Name] = p
	a.ending.Go(func() {
		defer close(p.begun)
		p.look = a.looks.Look(step) // before the program reads its files
		if !p.look.Known() || a.known.MaySkip(step, p.look) || ctx.Err() != nil {
			return
		}
		task := a.task
		task.Step = step
		started, err := a.stacks.StartAhead(ctx, task)
		if err == nil {
			if err = started.Started(ctx); err == nil {
				p.ahead = started
				return
			}
			started.Close()
		}
		a.debug("not started ahead", step.Project.Name, err)
	})
}

// end ends a program that waits. The caller holds the lock.
func (a *aheadPrograms) end(name string) {
	p := a.waiting[name]
	if p == nil {
		return
	}
	delete(a.waiting, name)
	p.cancel()
	a.ending.Go(func() {
		<-p.begun
		if p.ahead != nil {
			p.ahead.Close()
			if why := p.ahead.Anew(); why != "" {
				a.debug("started ahead, and again: "+why, name, nil)
			}
		}
	})
}

// take returns the program of a project whose turn has come, if it has begun to wait and nothing has changed since it
// started; else nil. It is ended with drop.
func (a *aheadPrograms) take(step plan.Step) *stacks.Ahead {
	p := a.started(step.Project.Name)
	if p == nil {
		return nil
	}
	if changed := a.looks.ChangedSources(step, p.look); len(changed) > 0 {
		a.debug("started ahead, and again: changed meanwhile: "+strings.Join(changed, ", "), step.Project.Name, nil)
		return nil
	}
	return p.ahead
}

// drop ends the program of a project, which has run or will not run. It is not started ahead any more.
func (a *aheadPrograms) drop(project string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tried[project] = true
	a.end(project)
}

// close ends all programs, and waits for their end.
func (a *aheadPrograms) close() {
	if a == nil {
		return
	}
	a.cancel()
	a.foresee(nil)
	a.ending.Wait()
	a.shown.now.Store(nil)
}
