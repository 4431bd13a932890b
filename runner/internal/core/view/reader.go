package view

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/parallel"
)

// Reader reads the state of the environments of a root, and keeps it. Compare reads files and records, which takes
// time; Look reads runs and locks, which takes little; Fleet returns what is known. It is safe for concurrent use.
type Reader struct {
	deps     session.Deps
	options  session.Options
	Runs     *History
	Rollouts *History // operations on many environments

	hidePeople bool // set before the first look

	shared session.Shared // where a backend has to be asked

	mu       sync.Mutex // holds what follows
	view     request.View
	contents map[string]*answer    // by environment
	compared map[string]comparison // by environment
	at       time.Time             // of the last whole comparison
}

// comparison is what reading the files and the record of an environment has found.
type comparison struct {
	verdict record.Verdict
	life    Life
	shared  []lock.Left // locks in a backend that others share
	apart   string      // see Environment
	err     error
}

// NewReader returns a reader that knows nothing yet. Close it after use.
func NewReader(d session.Deps, o session.Options) *Reader {
	r := &Reader{deps: d, options: o, Runs: NewHistory(o.Directory().Runs()),
		Rollouts: NewHistory(o.Directory().Rollouts()), contents: map[string]*answer{},
		compared: map[string]comparison{}}
	r.options.Shared = &r.shared
	return r
}

// HidePeople removes the names of users and hosts from what the reader returns, as far as the runner knows them as
// such: errors and logs are as they were written. Call it before anything is read.
func (r *Reader) HidePeople() {
	r.hidePeople, r.Runs.hidePeople, r.Rollouts.hidePeople = true, true, true
}

// Close ends what the reader has started to ask backends.
func (r *Reader) Close() error { return r.shared.Close() }

// Options returns the options that the reader reads with.
func (r *Reader) Options() session.Options { return r.options }

// Deps returns the outside world of the reader.
func (r *Reader) Deps() session.Deps { return r.deps }

// ReadFiles reads which environments there are, and chooses some. Its error is one about the choice.
func (r *Reader) ReadFiles(chosen fleet.Selection) error {
	v, err := r.options.View(chosen)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.view = v
	isGone := func(name string, _ comparison) bool {
		return !slices.ContainsFunc(v.Chosen, func(e fleet.Environment) bool { return e.Stack == name })
	}
	maps.DeleteFunc(r.compared, isGone)
	return nil
}

// Compare compares environments with what ran in them, all of them without names. An environment that cannot be read
// keeps its error, and hides no other; the error is one of the context.
func (r *Reader) Compare(ctx context.Context, names ...string) error {
	r.mu.Lock()
	v := r.view
	r.mu.Unlock()
	today := record.NewToday(ctx, r.options.Root, r.deps.Version)
	all := len(names) == 0
	for _, e := range v.Chosen {
		if all {
			names = append(names, e.Stack)
		}
	}
	found, err := parallel.Each(ctx, names, func(ctx context.Context, name string) (comparison, error) {
		c := comparison{err: v.Broken[name]}
		if c.err == nil {
			c = r.compare(ctx, today, name)
		}
		return c, context.Cause(ctx)
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, name := range names {
		r.compared[name] = found[i]
	}
	if all {
		r.at = r.deps.Now()
	}
	return nil
}

// compare compares one environment.
func (r *Reader) compare(ctx context.Context, today record.Today, name string) (c comparison) {
	o := r.options
	o.Request, o.Operation = o.Of(name), operation.Up
	c.err = session.Use(r.deps, o, session.ResolveStack, func(s *session.Resolved) (err error) {
		if c.verdict, err = today.CompareOpen(ctx, s); err != nil {
			return err
		}
		c.apart = config.Apart(s.Settings.Backend.Text)
		var lifeErr, lockErr error
		c.life, lifeErr = LifeOf(ctx, s, r.deps.Now())
		_, c.shared, lockErr = s.RunLock().InBackend(ctx)
		return errors.Join(lifeErr, lockErr)
	})
	return c
}

// Look reads runs and locks. It returns the environments with runs that have begun or ended since the last time.
func (r *Reader) Look() (changed []*Past, err error) {
	changed, err = r.Runs.Refresh()
	rollouts, other := r.Rollouts.Refresh()
	return append(changed, rollouts...), errors.Join(err, other)
}

// Fleet returns what is known of all environments. One that was not compared yet is unknown.
func (r *Reader) Fleet() Fleet {
	r.mu.Lock()
	v, at := r.view, r.at
	compared := maps.Clone(r.compared)
	r.mu.Unlock()
	now := r.deps.Now()
	f := Fleet{Environments: []Environment{}, Err: v.Err, Waves: v.Waves.Waves, Rollouts: r.Rollouts.Runs(),
		Compared: at, Simulated: r.options.Simulation.On}
	lately := newestOf(r.Runs.Runs())
	for _, e := range v.Chosen {
		one := Environment{Name: e.Stack, Provider: e.Provider, Labels: e.Own(), File: e.File}
		if wave, err := v.Waves.WaveOf(e); err == nil { // fleet check reports environments without a wave
			one.Wave = wave.Name
		}
		if l := lately[e.Stack]; l != nil {
			one.Lately = *l
		}
		for _, rollout := range f.Rollouts {
			if !rollout.Ended() && slices.Contains(append(rollout.Waiting, rollout.Doing...), e.Stack) {
				one.Lately.Rollout = rollout
				break
			}
		}
		one.take(compared, now, r.options.Directory(), r.hidePeople)
		f.Environments = append(f.Environments, one)
	}
	return f
}

// take sets what was compared, and finds the state.
func (e *Environment) take(compared map[string]comparison, now time.Time, dir layout.Runner, hidePeople bool) {
	c, ok := compared[e.Name]
	if !ok {
		c.err = errors.New("it is being read")
	}
	e.Verdict, e.Life, e.Apart = c.verdict, c.life, c.apart
	if c.err != nil {
		e.Error = c.err.Error()
	}
	e.Lock = lockOf(dir, e.Provider, e.Name, c.shared)
	var err error
	if e.Drift, err = record.ReadDrift(dir, e.Name); err != nil && e.Error == "" {
		e.Error = err.Error()
	}
	if e.Drift != nil {
		w := e.Lately.Write
		e.Drift.Void = e.Verdict.Ended.After(e.Drift.At) || w != nil && w.Started.After(e.Drift.At)
	}
	if hidePeople {
		e.hidePeople()
	}
	e.judge(now)
}

// hidePeople removes the names of users and hosts.
func (e *Environment) hidePeople() {
	if e.Lock != nil {
		e.Lock.Owner = "another user"
	}
	if e.Drift != nil {
		e.Drift.By = ""
	}
	e.Verdict.Begun, _, _ = strings.Cut(e.Verdict.Begun, " on ")
}

// lockOf returns the lock of an environment: that of this machine, else one in a shared backend.
func lockOf(dir layout.Runner, provider, stack string, shared []lock.Left) *Lock {
	newLock := func(o lock.Owner, dead, elsewhere bool) *Lock {
		return &Lock{Owner: fmt.Sprintf("%s@%s", o.User, o.Host), Operation: o.Operation, Run: o.Run, Since: o.Since,
			Dead: dead, Elsewhere: elsewhere}
	}
	state, owner, err := lock.Inspect(dir.Lock(provider, stack))
	if err == nil && state != lock.Free {
		return newLock(owner, state == lock.Abandoned, state == lock.Foreign)
	}
	for _, left := range shared {
		if !left.IsHeld() {
			return newLock(left.Owner, left.IsDead(), true)
		}
	}
	return nil
}

// newestOf returns the newest runs of each kind, by environment.
func newestOf(runs []*Past) map[string]*Lately {
	all := map[string]*Lately{}
	for _, run := range runs {
		l := all[run.Stack]
		if l == nil {
			l = &Lately{}
			all[run.Stack] = l
		}
		l.add(run)
	}
	return all
}

// add takes note of a run that is older than all before.
func (l *Lately) add(run *Past) {
	first := func(place **Past, counts bool) {
		if *place == nil && counts {
			*place = run
		}
	}
	first(&l.Live, !run.Ended())
	first(&l.Any, true)
	first(&l.Write, run.Writes())
	first(&l.Success, run.Operation.Deploys() && run.Result == "succeeded")
	first(&l.Preview, run.Operation == operation.Preview && run.Ended())
	if l.Costs == nil {
		l.Costs = run.Costs
	}
}

// Everything returns the choice of all environments.
func Everything() fleet.Selection { return fleet.Selection{} }

// Known returns the named environments of which the reader knows, without duplicates.
func (r *Reader) Known(names []string) (known []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.view.Chosen {
		if slices.Contains(names, e.Stack) {
			known = append(known, e.Stack)
		}
	}
	return known
}

// IsBusy reports whether this machine can see a current run.
func (r *Reader) IsBusy() bool {
	goesOn := func(p *Past) bool { return !p.Ended() }
	return slices.ContainsFunc(r.Runs.Runs(), goesOn) || slices.ContainsFunc(r.Rollouts.Runs(), goesOn)
}
