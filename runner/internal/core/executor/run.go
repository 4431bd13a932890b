package executor

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/failure"
)

// run is the state of one walk. It belongs to the goroutine of Run.
type run struct {
	Options
	needs      [][]int // by position: needs of a step
	dependents [][]int // by position: steps that need a step
	began      time.Time

	open    []int // by position: number of open needs
	ready   queue
	started []bool
	results []StepResult
	running map[int]struct{}
	done    chan finished

	failed      []string // projects, in the order of failure
	interrupted string   // last reason of an interruption, or ""
	hookErr     error    // error of the first failed hook of the run
}

// finished is the message of a step's goroutine.
type finished struct {
	position int
	result   StepResult
}

// newRun prepares a walk: steps without needs are ready.
func newRun(o Options, needs, dependents [][]int) *run {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Emit == nil {
		o.Emit = func(event.Event) {}
	}
	o.Parallel = max(o.Parallel, 1)
	n := len(o.Plan.Steps)
	r := &run{
		Options: o, needs: needs, dependents: dependents, began: o.Now(),
		open: make([]int, n), ready: queue{rank: ranks(o)}, started: make([]bool, n), results: make([]StepResult, n),
		running: map[int]struct{}{}, done: make(chan finished),
	}
	for i := range needs {
		r.open[i] = len(needs[i])
		if len(needs[i]) == 0 {
			r.ready.push(i)
		}
	}
	return r
}

// announce emits the plan.
func (r *run) announce() {
	list := []event.Project{}
	for _, s := range r.Plan.Steps {
		list = append(list, event.Project{Name: s.Project.Name, Title: s.Project.Title, Needs: s.Needs})
	}
	excluded := lists.Map(r.Plan.Excluded, func(e plan.Excluded) event.Exclusion {
		return event.Exclusion{Name: e.Step.Project.Name, Title: e.Step.Project.Title, Reason: e.Reason}
	})
	r.Emit(event.Event{
		Type: event.RunStarted, Format: event.Format, Operation: r.Operation, Provider: r.Plan.Provider,
		Stack: r.Stack, Simulated: r.Simulated, Parallel: r.Parallel, Projects: list, Excluded: excluded,
	})
}

// walk runs steps until nothing runs and nothing may start.
func (r *run) walk(ctx context.Context) {
	stop, cancel := r.Stop, ctx.Done()
	defer r.foresee(ctx, false)
	for {
		r.startReady(ctx)
		r.foresee(ctx, true)
		if len(r.running) == 0 {
			return
		}
		select {
		case f := <-r.done:
			r.finish(f)
		case <-stop:
			stop = nil
			r.interrupt(event.ReasonInterrupted)
		case <-cancel:
			stop, cancel = nil, nil
			r.interrupt(event.ReasonCancelled)
		}
	}
}

// startReady starts ready steps, up to the limit.
func (r *run) startReady(ctx context.Context) {
	for !r.ready.empty() && len(r.running) < r.Parallel && r.mayStart(ctx) {
		position, ok := r.ready.pop(r.hasRoom)
		if !ok {
			return
		}
		r.start(ctx, position)
	}
}

// foresee tells the operator which steps may be next.
func (r *run) foresee(ctx context.Context, goesOn bool) {
	operator, ok := r.Operator.(Foreseer)
	if !ok {
		return
	}
	if !goesOn {
		operator.Foresee(nil)
		return
	}
	stops := !r.mayStart(ctx)
	type candidate struct {
		Waiting
		position, depth int
	}
	var next []candidate
	depths, doomed, open := make([]int, len(r.needs)), make([]bool, len(r.needs)), make([][]int, len(r.needs))
	for i := range r.needs { // the needs of a step come before it
		if _, runs := r.running[i]; runs {
			next = append(next, candidate{Waiting{Step: r.Plan.Steps[i], Running: true}, i, -1})
		}
		if r.started[i] {
			doomed[i] = slices.Contains(r.failed, r.Plan.Steps[i].Project.Name) || r.results[i].Result == event.Cancelled
			continue
		}
		for _, need := range r.needs[i] {
			doomed[i] = doomed[i] || doomed[need]
			if r.results[need].Result != "" {
				continue
			}
			depths[i] = max(depths[i], depths[need]+1)
			for _, further := range append([]int{need}, open[need]...) {
				if !slices.Contains(open[i], further) {
					open[i] = append(open[i], further)
				}
			}
		}
		if !doomed[i] && !stops {
			next = append(next, candidate{Waiting{Step: r.Plan.Steps[i], For: open[i]}, i, depths[i]})
		}
	}
	slices.SortFunc(next, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(r.ready.rank[a.position], r.ready.rank[b.position]))
	})
	operator.Foresee(lists.Map(next, func(c candidate) Waiting { return c.Waiting }))
}

// hasRoom reports whether the group of a step allows another step to run.
func (r *run) hasRoom(position int) bool {
	if r.Group == nil {
		return true
	}
	name, limit := r.Group(r.Plan.Steps[position])
	if limit <= 0 {
		return true
	}
	for other := range r.running {
		if group, _ := r.Group(r.Plan.Steps[other]); group == name {
			limit--
		}
	}
	return limit > 0
}

// mayStart reports whether new steps may start. It checks for an interruption itself: an
// interruption before or at the end of a step takes precedence over the steps that this step
// has made ready.
func (r *run) mayStart(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		r.interrupt(event.ReasonCancelled)
	case <-r.Stop:
		r.interrupt(event.ReasonInterrupted)
	default:
	}
	return r.interrupted == "" && !r.stoppedByFailure()
}

// stoppedByFailure reports whether a failure has ended the run.
func (r *run) stoppedByFailure() bool { return len(r.failed) > 0 && r.OnError != Continue }

// interrupt records an interruption by the user, and emits an event once for each reason. A
// cancellation is never replaced by a weaker reason.
func (r *run) interrupt(reason string) {
	if r.interrupted == reason || r.interrupted == event.ReasonCancelled {
		return
	}
	r.interrupted = reason
	r.emitStopping(reason)
}

// emitStopping emits that nothing new starts, and which projects still run, in plan order.
func (r *run) emitStopping(reason string) {
	waiting := lists.Map(slices.Sorted(maps.Keys(r.running)), func(position int) string {
		return r.Plan.Steps[position].Project.Name
	})
	r.Emit(event.Event{Type: event.RunStopping, Reason: reason, Waiting: waiting})
}

// start starts the goroutine of a step. The goroutine ends before walk returns, because walk
// waits for the results of all running steps.
func (r *run) start(ctx context.Context, position int) {
	r.started[position] = true
	r.running[position] = struct{}{}
	step := r.Plan.Steps[position]
	limit, own := r.Timeouts[step.Project.Name]
	if !own {
		limit = r.Timeout
	}
	w := worker{Options: r.Options, step: step, limit: limit}
	w.emit(event.Event{Type: event.StepStarted})
	go func() {
		f := finished{position: position, result: w.aborted()}
		defer func() { r.done <- f }() // even if the operator ends the goroutine
		f.result = w.work(ctx)
	}()
}

// finish records the result of a step. After a success it makes the steps ready that only
// waited for this one.
func (r *run) finish(f finished) {
	delete(r.running, f.position)
	r.record(f.position, f.result)
	switch f.result.Result {
	case event.Succeeded, event.Skipped:
		r.release(f.position)
	case event.Failed:
		if r.Tolerate != nil && r.Tolerate(f.result.Project) {
			r.release(f.position)
			return
		}
		r.failed = append(r.failed, f.result.Project)
		if r.stoppedByFailure() && len(r.failed) == 1 && len(r.running) > 0 && r.interrupted == "" {
			r.emitStopping(f.result.Project + " failed")
		}
	}
}

// release closes the need of every dependent of a step.
func (r *run) release(position int) {
	for _, d := range r.dependents[position] {
		if r.open[d]--; r.open[d] == 0 {
			r.ready.push(d)
		}
	}
}

// settle sets the results of all steps that never started, in plan order, so that the results
// of a step's needs are set before its own.
func (r *run) settle() {
	for i, started := range r.started {
		if !started {
			r.record(i, r.abandon(i))
		}
	}
}

// abandon returns the result of a step that never started. A failure that the step depends on
// is a better reason than an interruption, because repeating the run does not help then.
func (r *run) abandon(position int) StepResult {
	result := StepResult{Project: r.Plan.Steps[position].Project.Name, Result: event.Skipped, Causes: r.causes(position)}
	switch {
	case len(result.Causes) > 0:
		result.Reason = list(result.Causes) + " failed"
	case r.interrupted != "":
		result.Result, result.Reason = event.Cancelled, event.ReasonInterrupted
	case r.hookErr != nil:
		result.Reason = "a hook of the run failed"
	default:
		result.Reason = "stopped after " + list(r.failed) + " failed"
	}
	return result
}

// causes returns the failed projects that a step depends on, directly or
// through skipped ones, in the order of its needs.
func (r *run) causes(position int) []string {
	var causes []string
	for _, need := range r.needs[position] {
		roots := r.results[need].Causes
		if r.results[need].Result == event.Failed {
			roots = []string{r.results[need].Project}
		}
		for _, root := range roots {
			if !slices.Contains(causes, root) {
				causes = append(causes, root)
			}
		}
	}
	return causes
}

// record stores the result of a step and emits it.
func (r *run) record(position int, result StepResult) {
	r.results[position] = result
	e := event.Event{
		Type: event.StepFinished, Project: result.Project, Title: r.Plan.Steps[position].Project.Title,
		Result: result.Result, Reason: result.Reason, Causes: result.Causes, Unchanged: result.Unchanged,
		Unknown: result.Unknown, Link: result.Link,
		Changes: &result.Changes, DurationMS: result.Duration.Milliseconds(),
	}
	if result.Err != nil {
		e.Error, e.Hint = result.Err.Error(), failure.Hint(result.Err)
	}
	if result.Attempts > 1 {
		e.Attempt = result.Attempts
	}
	r.Emit(e)
}

// conclude combines the results, calls Conclude, runs the last hooks and emits the end of the run.
func (r *run) conclude(ctx context.Context) (result Result, err error) {
	var counts event.Results
	var changes event.Changes
	for _, s := range r.results {
		counts = counts.CountStep(s.Project, s.Result, s.Unchanged)
		changes = changes.Plus(s.Changes)
	}
	result = Result{Operation: r.Operation, Outcome: counts.Outcome(), Steps: r.results}
	if result.Outcome == event.Succeeded && r.hookErr == nil && r.Conclude != nil {
		if err = r.Conclude(); err != nil {
			result.Outcome = event.Failed
		}
	}
	err = errors.Join(err, r.runLastHooks(ctx, &result, changes))
	result.Duration = r.Now().Sub(r.began)
	r.Emit(event.Event{
		Type: event.RunFinished, Result: result.Outcome, DurationMS: result.Duration.Milliseconds(),
		Results: &counts, Changes: &changes,
	})
	return result, err
}

// list joins names with commas and "and".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
