// Package operate runs an operation on one environment: up, preview, refresh, drift or
// destroy. It opens the environment, chooses the projects, applies the guards, asks for
// approval, runs the plan and records the result. Begin with Run.
package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/identity"
	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/leftovers"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/relay"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/core/unchanged"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// job is one operation on one environment, which is open.
type job struct {
	Request
	view     relay.View    // how it is shown
	d        session.Deps  // the outside world
	s        *session.Open // the open environment
	w        work          // what is to do
	watches  []guard.Watch
	contract *outputContract // of the outputs
	before   event.Summary   // of the preview that came before an up
	looked   looks           // what that preview depended on
	left     leftovers.Found // of earlier runs
	// withCluster are the projects that have made a cluster, by their states.
	withCluster map[string]bool
	accounts    record.Accounts // that this run records
	starting    *waitingPrograms
	// unclaimed are the stacks that no project claims; nil until they are looked for.
	unclaimed *inventory.Unclaimed
}

// newJob returns an operation on an open environment.
func newJob(d session.Deps, r Request, view relay.View, s *session.Open) *job {
	return &job{Request: r, view: view, d: d, s: s, starting: &waitingPrograms{}}
}

// Run runs an operation: it opens the environment, chooses the projects, looks for leftovers of earlier runs, asks
// for confirmation, and runs the plan. It returns the summary of the run, which is empty if none has begun. An error
// that the screen has shown is a failure.Reported.
func Run(ctx context.Context, d session.Deps, r Request, view relay.View) (summary event.Summary, err error) {
	s, err := open(ctx, d, r)
	if err != nil {
		newJob(d, r, view, nil).reportRefused(err)
		return summary, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.Masker.HidesValues = r.NoValues || r.Known().HidesValues
	j := newJob(d, r, view, s)
	if err := j.CheckProtection(d, s.Resolved); err != nil {
		j.reportRefused(err)
		return summary, err
	}
	j.warnOfOrphans(ctx)
	for _, step := range []func(context.Context) error{
		repositoryGuard{j}.checkRecord, j.prepare, j.settleLeftovers, j.settleGuards, j.rememberProvider,
	} {
		if err := step(ctx); errors.Is(err, errPlanSaved) {
			return summary, nil
		} else if err != nil {
			j.reportRefused(err)
			return summary, err
		}
	}
	return j.carryOut(ctx)
}

// prepare chooses the projects, looks at them, and has the operation approved: again if the user then wants only some of
// the projects.
func (j *job) prepare(ctx context.Context) error {
	warnings := len(j.s.Warnings)
	for {
		j.s.Warnings = j.s.Warnings[:warnings]
		j.watches, j.before, j.looked = nil, event.Summary{}, looks{}
		err := j.prepareOnce(ctx)
		if !errors.Is(err, errOthersChosen) {
			return err
		}
	}
}

func (j *job) prepareOnce(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		j.choose, j.checkReaders, j.checkRenames, j.warnOfUnwanted, planFile{j}.check, j.checkOutputs, j.openGuards, j.checkGone,
		j.findLeftovers, accountGuard{j}.check, repositoryGuard{j}.checkTags, j.approve, // the tags are read with the leftovers
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// findLeftovers looks for what earlier runs have left.
func (j *job) findLeftovers(ctx context.Context) (err error) {
	wasKilled := j.s.Held.TakenOver || journal.WasCutOff(j.s.Directory.Runs(), j.s.Environment())
	j.left, err = j.s.FindLeftovers(ctx, j.w.plan, j.Rest.Resume, wasKilled)
	j.s.Warnings = append(j.s.Warnings, j.left.Warnings...)
	return err
}

// worked returns the projects that a run has worked on and whose stacks exist.
func worked(summary *event.Summary) (names []string) {
	for _, step := range summary.Steps {
		if step.Result == event.Succeeded || step.Result == event.Failed && step.Changes.Any() {
			names = append(names, step.Name)
		}
	}
	return names
}

// rememberProvider records provider and backend before an up deploys anything with them, and corrects a stack file that
// names another provider.
func (j *job) rememberProvider(context.Context) error {
	if !j.Operation.Deploys() {
		return nil
	}
	changed, err := identity.KeepProvider(j.s.Resolved, request.Write)
	if err != nil {
		return err
	}
	if changed != "" {
		fmt.Fprintln(j.d.Stderr, changed)
	}
	if err := identity.RecordBackend(j.s.Resolved); err != nil {
		return err
	}
	return request.RememberProvider(j.s.Directory, j.s.Settings.Stack.Text, j.s.Provider.Name)
}

// carryOut runs the plan, reports the result and checks it.
func (j *job) carryOut(ctx context.Context) (summary event.Summary, err error) {
	recording, err := record.Begin(ctx, j.s, j.Operation, j.d.Version, j.w.plan.Names(), j.accounts)
	if err != nil {
		return summary, err
	}
	expected := j.expected(j.Operation)
	run, err := j.startRun(ctx, expected, j.meta(ctx, recording))
	if err != nil {
		return summary, errors.Join(err, recording.Abandon(ctx))
	}
	known := j.newUnchanged()
	known.Resume(j.w.done)
	found, err := j.walk(ctx, j.Operation, expected, checks{known, j.newSecondLook(run.Screen)}, run.Emit)
	var locked error
	if err != nil { // a worker that was killed cannot unlock its stack
		locked = j.s.Leftovers().RemoveDeadLocks(ctx, j.w.plan)
	}
	run.Outputs = maskedOutputs(j.s.Reading)
	run.Finish()
	summary = run.Summary
	run.Warn("locks of this run may be left, which `runner unlock` removes: ", locked)
	stored := known.Keep(&summary, run.Outputs)
	run.Warn("the fingerprints cannot be stored, so that the next up runs all projects: ", stored)
	if j.Operation == operation.Drift {
		stored = unchanged.InvalidateDrifted(j.s.Resolved, &summary)
		run.Warn("the next up may skip projects that have drifted; use up --force: ", stored)
		run.Warn("the result of the drift is not kept: ", record.KeepDrift(j.s, &summary, j.isWhole()))
	}
	var left error
	if err == nil {
		left = j.checkNothingLeft(ctx)
		run.Warn("another machine does not know the accounts that were deployed to: ", accountGuard{j}.tag(ctx, worked(&summary)))
	}
	if left == nil {
		run.Warn("the result of this run is not recorded: ", recording.End(ctx, j.ending(summary, known)))
	}
	if err == nil && left == nil && j.Operation.Destroys() {
		run.Warn("the backend of the destroyed environment stays recorded: ", identity.DropBackend(j.s.Reading))
	}
	defer j.s.Profile.Write(j.d.Stderr, &summary)
	file := planFile{j}
	if err != nil {
		file.reportUnsaved()
		return summary, errors.Join(&failure.Reported{Err: err}, forbidden(err))
	}
	if err := file.print(found.plan); err != nil {
		return summary, err
	}
	if j.Operation == operation.Preview {
		j.printConclusions()
	}
	j.printHighlights(run.Outputs)
	return summary, left
}

// startRun opens the journal and the screen of the run.
func (j *job) startRun(ctx context.Context, known ui.Options, meta journal.Meta) (*relay.Relay, error) {
	known.Next = next{j}.steps
	keep := journal.Options{Dir: j.s.Directory.Runs(), ID: j.s.Held.RunID, Meta: meta}
	run, err := relay.Begin(ctx, j.d, j.view, j.Root, keep, known, j.s.Masker)
	if err != nil {
		return nil, err
	}
	run.Open(j.s.Warnings...)
	if len(j.s.Generated) > 0 && j.Operation.RunsPrograms() && j.Rollout == nil {
		run.Open("SIMULATED: generated throw-away values for " + strings.Join(j.s.Generated, ", "))
	}
	run.Found(relay.FindingEvents(j.before))
	if j.Plan.Hold != nil { // the plan that this up carries out
		held := &event.SavedPlan{File: j.Plan.HoldFile, Digest: j.Plan.Hold.Digest}
		run.Follow(event.Event{Type: event.RunPlan, Plan: held})
	}
	j.s.OnWarning(func(text string) { run.Emit(event.Event{Type: event.RunWarning, Message: text}) })
	return run, nil
}

// meta describes the run for its directory.
func (j *job) meta(ctx context.Context, recording *record.Recording) journal.Meta {
	meta := journal.Meta{
		Force: j.Force || j.w.force, Limited: len(j.Targets.Only) > 0, Operation: j.Operation, Environment: j.s.Environment(), Simulated: j.Simulation.On,
		Selection: j.Words(), Resumes: j.w.resumes, Fingerprint: inputs.Configuration(j.s.Resolved),
		User: j.s.Held.Owner.User, Host: j.s.Held.Owner.Host, PID: j.s.Held.Owner.PID, Runner: j.d.Version,
	}
	meta.Message, meta.Commit = j.Execution.Message, recording.Commit()
	if j.Rollout != nil {
		meta.Rollout = j.Rollout.ID
	} else if meta.Commit == "" { // a rollout has looked, for all of its environments
		meta.Commit = gitsource.CommitOf(ctx, j.s.Settings.Root)
	}
	return meta
}

// expected returns what earlier runs say about this one: how long the projects take, and for a screen how many
// resources they have.
func (j *job) expected(op operation.Operation) ui.Options {
	inState := func(project string) int { return j.s.Stacks.Summary(project).Resources }
	past := journal.Recent(j.s.Directory.Runs(), j.s.Environment(), op)
	known := ui.Options{Ready: j.starting.isReady, Durations: past.Durations(func(project string) bool { return inState(project) == 0 })}
	if j.Rollout == nil {
		ups := past
		if op != operation.Up {
			ups = journal.Recent(j.s.Directory.Runs(), j.s.Environment(), operation.Up)
		}
		known.Resources = expectedResources(j.w.plan, j.before, ups.Resources(), inState)
	}
	return known
}

// expectedResources estimates how many resources each project will go through: it takes the numbers of the preview
// that was shown, else of the last up, else of a preview that is partial, else of the state.
func expectedResources(
	p plan.Plan, preview event.Summary, last map[string]int, inState func(project string) int,
) map[string]int {
	known := map[string]int{}
	for _, name := range p.Names() {
		number := cmp.Or(last[name], inState(name))
		if previewed, _ := preview.Step(name); previewed != nil && previewed.Result == event.Succeeded {
			if partial := len(previewed.Unknown) > 0; !partial || last[name] == 0 {
				number = previewed.Changes.Total()
			}
		}
		if number > 0 {
			known[name] = number
		}
	}
	return known
}

// newUnchanged returns what is known of unchanged projects; nil if the operation does not deploy.
func (j *job) newUnchanged() *unchanged.Projects {
	if !j.Operation.Deploys() {
		return nil
	}
	return unchanged.New(j.s, j.maySkip() && !j.w.force)
}

// ending returns how the run ended, for the record.
func (j *job) ending(summary event.Summary, known *unchanged.Projects) record.Ending {
	isInPlan := func(name string) bool { return slices.Contains(j.w.plan.Names(), name) }
	return record.Ending{
		Finished: summary.Finished, Steps: summary.Steps, Program: known.ProgramOf,
		Done:  slices.DeleteFunc(slices.Clone(j.w.done), isInPlan),
		Whole: !j.Removal.Orphans && j.isWhole(), Limited: len(j.Targets.Only) > 0,
	}
}

// isWhole reports whether the run is about all projects.
func (j *job) isWhole() bool { return len(j.w.plan.Steps) == len(j.s.Plan.Steps) }

// checkNothingLeft asks the backend, after a successful destroy, whether resources are left.
func (j *job) checkNothingLeft(ctx context.Context) error {
	if !j.Operation.Destroys() || len(j.w.plan.Steps) == 0 {
		return nil
	}
	if err := j.s.Stacks.List(ctx); err != nil {
		return err
	}
	var left []string
	for _, name := range j.w.plan.Names() {
		if n := j.s.Stacks.Summary(name).Resources; n > 0 {
			left = append(left, fmt.Sprintf("%s (%s)", name, typeset.Counted(n, "resource")))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("resources are left after the destroy: %s", strings.Join(left, ", "))
	}
	return nil
}
