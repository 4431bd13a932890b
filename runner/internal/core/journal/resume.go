package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/machine/failure"
)

// Query asks for the runs of one operation on an environment.
type Query struct {
	Environment
	Operation operation.Operation
	// Fingerprint is that of the configuration as it is now.
	Fingerprint fingerprint.Fingerprint
	// Changed allows to resume although the configuration has changed.
	Changed bool
	// Rollouts are those whose runs may be resumed; nil for any run.
	Rollouts []string
}

// Resumption is what an earlier run has left. The lists are in plan order.
type Resumption struct {
	// Run is the run to resume: the last one.
	Run Run
	// Projects are all that the runs were about.
	Projects []string
	// Succeeded are done, also those where there was nothing to do.
	Succeeded []string
	// Failed have started and not succeeded, whether they failed or were
	// interrupted or killed.
	Failed []string
	// NeverRan have not been started.
	NeverRan []string
	// Chain has the IDs of the run and of the runs that it resumed, the last one first.
	Chain []string
	// Force is true where the run also ran what had not changed.
	Force bool
	// Limited is true where the run was limited to some resources.
	Limited bool
	// Changes are the parts of the configuration that have changed since; none
	// unless the query allows it.
	Changes []string
	// NothingBegan is true for a run that was killed before its first event: all projects are left, and no list has them.
	NothingBegan bool
}

// Unfinished returns the projects that have not succeeded, in plan order.
func (r Resumption) Unfinished() []string {
	return slices.DeleteFunc(slices.Clone(r.Projects), func(name string) bool {
		return slices.Contains(r.Succeeded, name)
	})
}

// ResumeError says why there is no run to resume.
type ResumeError struct{ failure.Environment }

// errNothingToResume returns the error for an operation without a run to resume.
// more is a further way out, next to running all projects.
func errNothingToResume(op operation.Operation, more, format string, args ...any) error {
	return &ResumeError{failure.Environment{Text: fmt.Sprintf(format, args...),
		Next: fmt.Sprintf("run %s for all projects", op) + more}}
}

// Resume finds below dir what the last run of an operation on an environment has
// not finished. If that run resumed another one, the projects that neither has
// finished count as well. It returns a *ResumeError if there is no such run, if
// another operation has changed the environment since, or if its configuration has
// changed. A running run looks interrupted: the caller holds the environment's
// lock.
func Resume(dir string, q Query) (Resumption, error) {
	runs, err := List(dir)
	if err != nil {
		return Resumption{}, err
	}
	last, err := q.last(runs)
	if err != nil {
		return Resumption{}, err
	}
	if q.Rollouts != nil && !slices.Contains(q.Rollouts, last.meta.Rollout) {
		return Resumption{}, errNothingToResume(q.Operation, "", "nothing to resume: run %s belongs to another rollout",
			last.ID)
	}
	changes := last.meta.Fingerprint.Changes(q.Fingerprint)
	if len(changes) > 0 && !q.Changed {
		return Resumption{}, errNothingToResume(q.Operation, ", or resume all the same with --resume-changed",
			"the configuration has changed since run %s: %s", last.ID, strings.Join(changes, ", "))
	}
	chain, err := last.chain(runs)
	if err != nil {
		return Resumption{}, err
	}
	r := Resumption{NothingBegan: last.summary == nil}
	if !r.NothingBegan {
		r = fold(chain)
	}
	r.Run, r.Changes, r.Force, r.Limited = last.Run, changes, last.meta.Force, last.meta.Limited
	r.Chain = lists.Map(chain, func(run *record) string { return run.ID })
	return r, nil
}

// record is a run that has been read.
type record struct {
	Run
	meta    Meta
	summary *event.Summary
}

// read reads a run. A run without a file for events has done nothing: there is
// none.
func read(run Run) (*record, error) {
	meta, err := run.Meta()
	if err != nil {
		return nil, err
	}
	s, err := run.Summary()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &record{Run: run, meta: meta, summary: s}, nil
}

// last finds the run to resume.
func (q Query) last(runs []Run) (*record, error) {
	var killed *record // before its first event
	for _, run := range runs {
		r, err := read(run)
		if err != nil && !q.mayBeOf(run) {
			continue // a damaged run of another environment is none of ours
		}
		if err != nil {
			return nil, err
		}
		switch {
		case r == nil || !q.Has(r.summary):
			if killed == nil && (r == nil || r.summary.Provider == "") {
				killed = q.killedEarly(run)
			}
		case r.summary.Operation == q.Operation:
			return r, nil
		case r.hasChanged():
			return nil, errNothingToResume(q.Operation, "", "nothing to resume: the last run of %s was %s, %s", q.Environment,
				r.summary.Operation, r.ID)
		}
	}
	if killed == nil {
		return nil, errNothingToResume(q.Operation, "", "nothing to resume: there has been no %s of %s", q.Operation,
			q.Environment)
	}
	if chosen := killed.meta.Selection; len(chosen) > 0 {
		return nil, errNothingToResume(q.Operation, ", or for those that it had: "+strings.Join(chosen, " "),
			"nothing to resume: run %s was killed before its first project", killed.ID)
	}
	return killed, nil
}

// mayBeOf reports whether a run that cannot be read belongs to the environment, by what it still says.
func (q Query) mayBeOf(run Run) bool {
	if meta, err := run.Meta(); err == nil && meta.Environment != (Environment{}) {
		return meta.Environment == q.Environment
	}
	summary, err := run.Summary()
	return err == nil && q.Has(summary)
}

// killedEarly returns the record, without a summary, of a run of the operation that has no events; nil for other runs.
func (q Query) killedEarly(run Run) *record {
	meta, err := run.Meta()
	if err != nil || meta.Environment != q.Environment || meta.Operation != q.Operation {
		return nil
	}
	return &record{Run: run, meta: meta}
}

// hasChanged reports whether the run may have changed the environment.
func (r *record) hasChanged() bool {
	return r.summary.Operation.ChangesResources() && slices.ContainsFunc(r.summary.Steps,
		func(s event.Step) bool { return !s.Started.IsZero() })
}

// chain returns the run, the run that it resumed, and so forth.
func (r *record) chain(runs []Run) ([]*record, error) {
	chain := []*record{r}
	if r.summary == nil {
		return chain, nil
	}
	for id := r.meta.Resumes; id != ""; id = r.meta.Resumes {
		at := slices.IndexFunc(runs, func(other Run) bool { return other.ID == id })
		if at < 0 || id >= r.ID { // a run resumes only earlier runs, so this ends
			return nil, errNothingToResume(r.summary.Operation, "", "run %s resumed run %s, which does not exist any more",
				r.ID, id)
		}
		earlier, err := read(runs[at])
		if err != nil {
			return nil, err
		}
		if earlier == nil {
			break
		}
		chain = append(chain, earlier)
		r = earlier
	}
	return chain, nil
}

// fold adds up a chain of runs, the last one first. What the last run that had
// a project says about it counts.
func fold(chain []*record) Resumption {
	r := Resumption{}
	known := map[string]bool{}
	for _, run := range chain {
		for _, step := range run.summary.Steps {
			if !known[step.Name] {
				known[step.Name] = true
				r.add(step)
			}
		}
	}
	r.sort(chain[len(chain)-1].summary)
	return r
}

// add records the result of a step.
func (r *Resumption) add(step event.Step) {
	r.Projects = append(r.Projects, step.Name)
	switch {
	case step.Started.IsZero():
		r.NeverRan = append(r.NeverRan, step.Name)
	case step.Result == event.Succeeded || step.Result == event.Skipped:
		r.Succeeded = append(r.Succeeded, step.Name)
	default:
		r.Failed = append(r.Failed, step.Name)
	}
}

// sort brings the lists into the order of the first run of the chain, which had
// all projects.
func (r *Resumption) sort(first *event.Summary) {
	place := func(name string) int {
		_, position := first.Step(name)
		return position
	}
	for _, names := range [][]string{r.Projects, r.Succeeded, r.Failed, r.NeverRan} {
		slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	}
}
