package operations

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/run/plan"
)

// selectionOptions choose the projects that run.
type selectionOptions struct {
	plan.Selection
	Failed  bool // only what failed in the last run
	Resume  bool // only what the last run has not done
	Changed bool // resume although the configuration has changed
}

func parseProjects(c *cli.Context) (selectionOptions, error) {
	o := selectionOptions{Selection: cmd.ParseSelection(c), Failed: c.Bool("failed"), Changed: c.Bool("resume-changed")}
	o.Resume = c.Bool("resume") || o.Changed
	if o.Failed && o.Resume {
		return o, failure.Usagef(c.Command.Name, "--failed and --resume: choose one; --resume includes what failed")
	}
	return o, nil
}

func (o selectionOptions) words() []string {
	given := func(flag string, values []string) []string {
		var words []string
		for _, value := range values {
			words = append(words, flag+" "+value)
		}
		return words
	}
	words := slices.Concat(
		given("--only", o.Only), given("--skip", o.Skip), given("--from", o.From), given("--until", o.Until),
	)
	if o.Failed {
		words = append(words, "--failed")
	}
	if o.Resume {
		words = append(words, "--resume")
	}
	return words
}

// work is what a run has to do.
type work struct {
	plan    plan.Plan
	resumes string                   // id of the run that it resumes
	limit   time.Duration            // for each project; 0 is none
	limits  map[string]time.Duration // for single projects
	preview event.Summary            // of an up that was shown first
	force   bool                     // the resumed run ran unchanged projects, too
	done    []string                 // projects that the resumed run has done, to be skipped while they are current
}

// choose orders and selects the projects. It refuses a selection that skips a project that others need.
func choose(s *session.Session, o operateOptions) (work, error) {
	w := work{plan: s.Plan}
	switch {
	case o.Operation.Destroys():
		w.plan = w.plan.Reverse()
	case o.Operation == operation.Drift:
		w.plan = w.plan.Unordered()
	}
	var err error
	if w.limit, w.limits, err = o.timeouts(s.Plan); err != nil {
		return w, err
	}
	if w.plan, err = plan.Select(w.plan, o.Selection.Selection); err != nil {
		return w, err
	}
	if o.Selection.ofLastRun() {
		if err := limitToRest(s, &w, o, newUnchanged(s, o).changedSince); err != nil {
			return w, err
		}
	}
	if o.Operation.ComparesState() {
		return w, nil // they read nothing of one another
	}
	return w, w.plan.CheckExcluded(s.Stacks.IsDeployed)
}

// ofLastRun reports whether the last run decides what is left to do.
func (o selectionOptions) ofLastRun() bool { return o.Failed || o.Resume }

// readRest reads what the last run has left to do.
func readRest(s *session.Session, o operateOptions) (journal.Resumption, error) {
	var rollouts []string
	if o.part != nil {
		rollouts = append([]string{}, o.part.resumes...)
	}
	return journal.Resume(s.Directory.Runs(), journal.Query{
		Rollouts: rollouts, Environment: s.Environment(), Operation: o.Operation, Fingerprint: configurationOf(s),
		Changed: o.Selection.Changed || o.Selection.Failed, // failed projects run again, because a change may have helped
	})
}

// selectRest selects what the last run has left to do, for the checks before the
// environment is locked. If there is no such run, limitToRest says so later.
func (o operateOptions) selectRest(s *session.Session) plan.Selection {
	own := o.Selection.Selection
	selected, err := plan.Select(s.Plan, own)
	rest, restErr := readRest(s, o)
	if err != nil || restErr != nil {
		return own
	}
	names := left(selected, rest, o.Operation, func(step plan.Step) []string { return changedSources(s, step) })
	if o.Selection.Failed {
		names = rest.Failed
	}
	if names = selected.Limit(names, "").Names(); len(names) > 0 {
		return plan.Selection{Only: names}
	}
	return plan.Selection{Skip: []string{"*"}} // nothing is left
}

// limitToRest skips what the last run has done, as far as that is current, and what it skipped.
func limitToRest(s *session.Session, w *work, o operateOptions, changed changedFunc) error {
	rest, err := readRest(s, o)
	var nothing *journal.ResumeError
	if o.part != nil && errors.As(err, &nothing) {
		return nil // the rollout that is resumed has not begun with this environment, or others have worked on it since
	}
	if err != nil {
		return err
	}
	w.resumes, w.force = rest.Run.ID, rest.Force && o.Operation.Deploys()
	if o.Selection.Failed {
		w.plan = w.plan.Limit(rest.Failed, "did not fail in run "+rest.Run.ID)
		return checkFailed(s, rest, o)
	}
	if len(rest.Changes) > 0 {
		s.Warnings = append(
			s.Warnings,
			fmt.Sprintf("the configuration has changed since run %s: %s", rest.Run.ID, strings.Join(rest.Changes, ", ")),
		)
	}
	var again []string
	names := left(w.plan, rest, o.Operation, func(step plan.Step) []string {
		changes := changed(step)
		if len(changes) > 0 {
			again = append(again, step.Project.Name+" ("+strings.Join(changes, ", ")+")")
		}
		return changes
	})
	// A project that the command line skips has not been compared: it may have changed since.
	w.done = slices.DeleteFunc(slices.Clone(rest.Succeeded), func(name string) bool {
		return o.Operation.RunsPrograms() && !slices.Contains(w.plan.Names(), name)
	})
	w.plan = w.plan.Limit(rest.Projects, "not selected in run "+rest.Run.ID).Limit(names, "done in run "+rest.Run.ID)
	if len(again) > 0 && o.Operation.Deploys() {
		s.Warnings = append(
			s.Warnings,
			fmt.Sprintf("run again, because they have changed since run %s: %s", rest.Run.ID, strings.Join(again, ", ")),
		)
	}
	if len(w.plan.Steps) == 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("nothing is left to do from run %s", rest.Run.ID))
	}
	return nil
}

func checkFailed(s *session.Session, rest journal.Resumption, o operateOptions) error {
	if len(rest.Failed) > 0 {
		return nil
	}
	summary, err := rest.Run.Summary()
	if err != nil {
		return err
	}
	next := fmt.Sprintf("run %s for all projects", o.Operation)
	if len(rest.NeverRan) > 0 {
		next = "run the rest with --resume"
	}
	return &failure.Environment{
		Text: fmt.Sprintf(
			"nothing failed in the last %s of %s: run %s %s", o.Operation, s.Environment(), rest.Run.ID,
			outcomeWords(summary.Outcome()),
		),
		Next: next,
	}
}

func outcomeWords(outcome event.Result) string {
	if outcome == event.Interrupted {
		return "was interrupted"
	}
	return string(outcome)
}
