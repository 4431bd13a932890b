package resumetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
)

// world is an environment that breaks at random. It is the operator, too.
type world struct {
	t       *testing.T
	random  *rand.Rand
	whole   plan.Plan // in the direction of the operation
	dir     string
	runs    int
	trouble int // in a hundred

	mu       sync.Mutex
	deployed map[string]bool // guarded by mu
	worked   []string        // guarded by mu; in this run
}

// Operate does a step, unless it breaks before or after the work.
func (w *world) Operate(ctx context.Context, step plan.Step, _ func(event.Event)) (executor.Outcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := step.Project.Name
	w.worked = append(w.worked, name)
	before := slices.IndexFunc(w.whole.Steps, func(s plan.Step) bool { return s.Project.Name == name })
	for _, need := range w.whole.Steps[before].All() {
		if w.deployed[need] == w.whole.Destroy {
			w.t.Errorf("%s before %s", name, need)
		}
	}
	if w.happens() {
		return executor.Outcome{}, errors.New("broke before")
	}
	w.deployed[name] = !w.whole.Destroy
	if w.happens() {
		return executor.Outcome{}, errors.New("broke after")
	}
	if ctx.Err() != nil {
		return executor.Outcome{}, context.Cause(ctx)
	}
	return executor.Outcome{Changes: event.Changes{Create: 1}}, nil
}

func (w *world) happens() bool { return w.random.IntN(100) < w.trouble }

func (w *world) operation() operation.Operation {
	if w.whole.Destroy {
		return operation.Destroy
	}
	return operation.Up
}

func environment() journal.Environment { return journal.Environment{Provider: "test", Stack: "dev"} }

// next returns the plan of the next run: of all that is left, of all that failed, or
// all of it, as users do.
func (w *world) next() (p plan.Plan, resumes string) {
	r, err := journal.Resume(w.dir, journal.Query{Environment: environment(), Operation: w.operation()})
	var none *journal.ResumeError
	if errors.As(err, &none) {
		return w.whole, ""
	}
	if err != nil {
		w.t.Fatal(err)
	}
	names := r.Unfinished()
	if len(r.Failed) > 0 && w.random.IntN(3) == 0 {
		names = r.Failed
	}
	for _, name := range r.Succeeded {
		if w.deployed[name] == w.whole.Destroy {
			w.t.Fatalf("%s counts as done", name)
		}
	}
	return w.whole.Limit(names, "succeeded in run "+r.Run.ID), r.Run.ID
}

// run does one run, and perhaps ends it early: by a gentle stop, by a
// cancellation, or by a kill, which leaves a journal that is cut off.
func (w *world) run() {
	p, resumes := w.next()
	if err := p.CheckExcluded(func(name string) bool { return w.deployed[name] }); err != nil {
		w.t.Fatal(err)
	}
	w.runs++
	now := time.Date(2026, 11, 20, 12, w.runs, 0, 0, time.UTC)
	j, err := journal.Create(journal.Options{Dir: w.dir, ID: journal.NewID(now), Meta: journal.Meta{Environment: environment(), Resumes: resumes}})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	stop := make(chan struct{})
	at, disturb := w.random.IntN(len(p.Steps)+1), w.disturbance(stop, cancel)
	steps := 0
	emitter := event.NewEmitter(event.EmitterOptions{Run: j.ID(), Sinks: []event.Sink{j}})
	w.worked = nil
	_, err = executor.Run(ctx, executor.Options{
		Plan: p, Operation: w.operation(), Stack: "dev", Parallel: 1 + w.random.IntN(4), Operator: w, Stop: stop,
		OnError: executor.OnError(executor.Policies()[w.random.IntN(2)]),
		Emit: func(e event.Event) {
			if e.Type == event.StepStarted {
				if steps++; steps == at {
					disturb()
				}
			}
			emitter.Emit(e)
		},
	})
	emitter.Close()
	if closed := j.Close(); closed != nil {
		w.t.Fatal(closed)
	}
	w.expectOnly(p)
	if err != nil && w.happens() {
		w.kill(j.Dir())
	}
}

// disturbance returns what happens in the middle of a run.
func (w *world) disturbance(stop chan struct{}, cancel func()) func() {
	switch {
	case !w.happens():
		return func() {}
	case w.random.IntN(2) == 0:
		return cancel
	default:
		return func() { close(stop) }
	}
}

// kill makes the journal that of a run that was killed.
func (w *world) kill(dir string) {
	path := filepath.Join(dir, "events.ndjson")
	info, err := os.Stat(path)
	if err == nil {
		err = errors.Join(os.Truncate(path, w.random.Int64N(info.Size()+1)), os.Remove(filepath.Join(dir, "summary.json")))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// expectOnly checks that no skipped project has run.
func (w *world) expectOnly(p plan.Plan) {
	for _, name := range w.worked {
		if !slices.Contains(p.Names(), name) {
			w.t.Errorf("%s has run, but was skipped", name)
		}
	}
}

// isDone reports whether all of the plan has been done.
func (w *world) isDone() bool {
	for _, name := range w.whole.Names() {
		if w.deployed[name] == w.whole.Destroy {
			return false
		}
	}
	return true
}

// TestResumeIsContinue disturbs up and then destroy of random plans in every
// way there is, and resumes until nothing is left: it must come to the same
// as an undisturbed run, and no step may ever run before what it needs.
func TestResumeIsContinue(t *testing.T) {
	t.Parallel()
	most := 0
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := &world{t: t, random: random, whole: randomPlan(t, random), deployed: map[string]bool{}}
		for range 2 { // up, and then destroy
			w.dir = filepath.Join(t.TempDir(), "runs")
			w.runs, w.trouble = 0, random.IntN(30)
			for !w.isDone() || w.unfinished() {
				if w.run(); w.runs > 40 {
					w.trouble = 0
				}
				if w.runs > 60 {
					t.Fatalf("seed %d: %s does not come to an end", seed, w.operation())
				}
			}
			most = max(most, w.runs)
			w.whole = w.whole.Reverse()
		}
	}
	if most < 5 {
		t.Errorf("at most %d runs: nothing was disturbed", most)
	}
}

// unfinished reports whether the journal has anything left to do.
func (w *world) unfinished() bool {
	r, err := journal.Resume(w.dir, journal.Query{Environment: environment(), Operation: w.operation()})
	return err != nil || len(r.Unfinished()) > 0
}

// randomPlan makes a plan whose edges point backwards.
func randomPlan(t *testing.T, random *rand.Rand) plan.Plan {
	t.Helper()
	p := model.Provider{Infrastructure: model.Infrastructure{Name: "test"}}
	for i := range 1 + random.IntN(20) {
		step := model.Step{Project: model.Project{Name: fmt.Sprintf("p%d", i)}}
		for range min(i, random.IntN(4)) {
			step.Reads = append(step.Reads, fmt.Sprintf("p%d", random.IntN(i)))
		}
		p.Steps = append(p.Steps, step)
	}
	made, err := plan.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}
