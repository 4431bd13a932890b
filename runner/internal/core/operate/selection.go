package operate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"context"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/unchanged"
	"mara/runner/internal/machine/failure"
)

// work is what a run has to do.
type work struct {
	plan    plan.Plan
	resumes string                   // id of the run that it resumes
	limit   time.Duration            // for each project; 0 is none
	limits  map[string]time.Duration // for single projects
	force   bool                     // the resumed run ran unchanged projects, too
	done    []string                 // projects that the resumed run has done, to be skipped while they are current
}

// choose chooses the work of the operation: on orphans, or on projects of the plan. It refuses a selection that skips a
// project that others need.
func (j *job) choose(ctx context.Context) (err error) {
	if j.Removal.Orphans || j.resumesOrphans() {
		j.Removal.Orphans = true
		return j.chooseOrphans(ctx)
	}
	p := j.s.Plan
	switch {
	case j.Operation.Destroys():
		p = p.Reverse()
	case j.Operation == operation.Drift:
		p = p.Unordered()
	}
	if j.w.limit, j.w.limits, err = j.Execution.limits(j.s.Plan); err != nil {
		return err
	}
	if j.w.plan, err = plan.Select(p, j.Selection); err != nil {
		return err
	}
	if err := j.chooseTargets(ctx); err != nil {
		return err
	}
	if j.Rest.IsAsked() {
		if err := j.limitToRest(j.newUnchanged().ChangedSince); err != nil {
			return err
		}
	}
	if j.Operation.ComparesState() {
		return nil // they read nothing of one another
	}
	return j.w.plan.CheckExcluded(j.s.Stacks.IsDeployed)
}

// readRest reads what the last run has left to do.
func (r Request) readRest(s *session.Resolved) (journal.Resumption, error) {
	query := journal.Query{
		Environment: s.Environment(), Operation: r.Operation, Fingerprint: inputs.Configuration(s),
		Changed: r.Rest.Changed || r.Rest.Failed, // failed projects run again, because a change may have helped
	}
	if r.Rollout != nil {
		query.Rollouts = append([]string{}, r.Rollout.Resumes...)
	}
	return journal.Resume(s.Directory.Runs(), query)
}

// selectRest selects what the last run has left to do, for the checks before the
// environment is locked. If there is no such run, limitToRest says so later.
func (r Request) selectRest(s *session.Resolved) plan.Selection {
	selected, err := plan.Select(s.Plan, r.Selection)
	rest, restErr := r.readRest(s)
	if err != nil || restErr != nil {
		return r.Selection
	}
	if rest.NothingBegan {
		return r.Selection
	}
	names := left(selected, rest, r.Operation, func(step plan.Step) []string { return unchanged.ChangedSources(s, step) })
	if r.Rest.Failed {
		names = rest.Failed
	}
	if names = selected.Limit(names, "").Names(); len(names) > 0 {
		return plan.Selection{Only: names}
	}
	return plan.Selection{Skip: []string{"*"}} // nothing is left
}

// left returns the projects that a resumed run has to look at: unfinished projects, finished projects that have
// changed since, and the readers of either, whose inputs may change. changed returns what has changed for a project.
func left(
	p plan.Plan, rest journal.Resumption, op operation.Operation, changed func(plan.Step) []string,
) []string {
	names := rest.Unfinished()
	if !op.RunsPrograms() {
		return names
	}
	for _, step := range p.Steps {
		name := step.Project.Name
		if !slices.Contains(rest.Succeeded, name) {
			continue
		}
		readsLeft := slices.ContainsFunc(
			slices.Concat(step.Reads, step.Outside), func(read string) bool { return slices.Contains(names, read) },
		)
		if len(changed(step)) > 0 || readsLeft {
			names = append(names, name)
		}
	}
	return names
}

// limitToRest skips what the last run has done, as far as that is current, and what it skipped.
func (j *job) limitToRest(changed func(plan.Step) []string) error {
	rest, err := j.readRest(j.s.Resolved)
	if _, nothing := errors.AsType[*journal.ResumeError](err); nothing && j.Rollout != nil {
		return nil // the rollout that is resumed has not begun with this environment, or others have worked on it since
	}
	if err != nil {
		return err
	}
	if rest.Limited {
		return &failure.Environment{
			Text: fmt.Sprintf("the last %s of %s, run %s, was limited to some resources of a project, which nothing resumes",
				j.Operation, j.s.Environment(), rest.Run.ID),
			Next: fmt.Sprintf("give the same flags again, or run %s for whole projects", j.Operation),
		}
	}
	j.w.resumes, j.w.force = rest.Run.ID, rest.Force && j.Operation.Deploys()
	if j.Rest.Failed {
		j.w.plan = j.w.plan.Limit(rest.Failed, "did not fail in run "+rest.Run.ID)
		return j.checkFailed(rest)
	}
	if len(rest.Changes) > 0 {
		j.warn("the configuration has changed since run %s: %s", rest.Run.ID, strings.Join(rest.Changes, ", "))
	}
	if rest.NothingBegan {
		j.warn("run %s was killed before its first project: all projects run", rest.Run.ID)
		return nil
	}
	var again []string
	names := left(j.w.plan, rest, j.Operation, func(step plan.Step) []string {
		changes := changed(step)
		if len(changes) > 0 {
			again = append(again, step.Project.Name+" ("+strings.Join(changes, ", ")+")")
		}
		return changes
	})
	// A project that the command line skips has not been compared: it may have changed since.
	j.w.done = slices.DeleteFunc(slices.Clone(rest.Succeeded), func(name string) bool {
		return j.Operation.RunsPrograms() && !slices.Contains(j.w.plan.Names(), name)
	})
	j.w.plan = j.w.plan.Limit(rest.Projects, "not selected in run "+rest.Run.ID).Limit(names, "done in run "+rest.Run.ID)
	if len(again) > 0 && j.Operation.Deploys() {
		j.warn("run again, because they have changed since run %s: %s", rest.Run.ID, strings.Join(again, ", "))
	}
	if len(j.w.plan.Steps) == 0 {
		j.warn("nothing is left to do from run %s", rest.Run.ID)
	}
	return nil
}

// warn adds a warning with which the run begins.
func (j *job) warn(format string, args ...any) {
	j.s.Warnings = append(j.s.Warnings, fmt.Sprintf(format, args...))
}

func (j *job) checkFailed(rest journal.Resumption) error {
	if len(rest.Failed) > 0 {
		return nil
	}
	summary, err := rest.Run.Summary()
	if err != nil {
		return err
	}
	next := fmt.Sprintf("run %s for all projects", j.Operation)
	if len(rest.NeverRan) > 0 {
		next = "run the rest with --resume"
	}
	outcome := string(summary.Outcome())
	if summary.Outcome() == event.Interrupted {
		outcome = "was interrupted"
	}
	text := "nothing failed in the last %s of %s: run %s %s"
	return &failure.Environment{Text: fmt.Sprintf(text, j.Operation, j.s.Environment(), rest.Run.ID, outcome), Next: next}
}
