package operate

import (
	"context"
	"slices"
	"time"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/updateplan"
)

// Request is what is asked of one environment. It is not changed once it is made.
type Request struct {
	session.Options // which environment and projects, and which operation
	Rest            Rest
	Yes             bool     // skips the confirmation
	Approve         Rule     // which previews need no confirmation
	Allow           []string // in a protected environment: what may be lost
	Force           bool     // of up: run unchanged projects, too
	Targets         stacks.Targets
	Deep            bool // of drift: look inside Helm releases
	Strict          bool // what would only be a warning of a preview is an error: its exit code decides something
	NewBackend      bool // the environment may go to another backend than before
	New             bool // the environment may be one that nothing knows yet
	NoValues        bool // no screen, event or report has the values that differ
	WarnMissing     bool // a program may read an output that does not exist
	Repair          bool // restore broken states, and drop interrupted creations
	Removal         Removal
	Execution       Execution
	Plan            Plan
	Guards          Guards
	Carried         Carried
	Rollout         *Rollout // that it is a part of; nil for none
}

// Rest says that the last run decides what is left to do.
type Rest struct {
	Failed  bool // only what failed in it
	Resume  bool // only what it has not done
	Changed bool // resume although the configuration has changed
}

// IsAsked reports whether the last run decides.
func (r Rest) IsAsked() bool { return r.Failed || r.Resume }

// Removal says what a destroy removes.
type Removal struct {
	Stacks bool // the stacks, once they are empty
	Forget bool // drops what was in a cluster that is gone
	// LeaveBehind allows to leave load balancers and volumes of a cluster.
	LeaveBehind bool
	// Orphans are the stacks that no project claims: only they are destroyed, and removed.
	Orphans bool
}

// Execution says how a plan runs.
type Execution struct {
	Parallel  int
	Resources int    // at once in one project; 0 leaves it to Pulumi
	Message   string // in the history of each stack; "" leaves it to Pulumi
	OnError   executor.OnError
	Retry     int
	Timeouts  []Timeout
	// StartAhead is how many programs may be started before their turn; less than 0 stands for as many as projects run at
	// once, and fewer if memory is short.
	StartAhead int
	Refresh    bool // of up and preview: read the resources of each project from its cloud first
}

// Timeout limits how long projects may take.
type Timeout struct {
	Term  string // which projects; "" for all
	Limit time.Duration
}

// Plan is the document of what an up would do.
type Plan struct {
	Save string               // of preview: the file to write it to
	Hold *updateplan.Document // of up: the plan that it must follow; nil for none
	// HoldFile is the name of its file, as given.
	HoldFile string
	// UnknownPrograms allows a plan with programs that cannot be compared.
	UnknownPrograms bool
}

// Guards may forbid an up.
type Guards struct {
	guard.Limits
	Packs []string      // Pulumi's own policy packs, for its engine
	All   []guard.Guard // in the order in which they are asked; none until they are loaded
}

// Rollout is what a rollout adds to the operation on one of its environments.
type Rollout struct {
	ID      string
	Resumes []string        // rollouts whose runs may be resumed
	Stop    <-chan struct{} // ends the operation gently
	// Enter waits until one more project may run; leave makes room for another.
	Enter func(context.Context) (leave func(), err error)
}

// Rule says which previews an up may carry out without asking.
type Rule string

// The rules.
const (
	NoRule     Rule = ""
	NoReplaces Rule = "no-replaces" // nothing is replaced
	NoDeletes  Rule = "no-deletes"  // nothing is deleted, not even by a replacement
)

// Words returns the selection of projects as flags.
func (r Request) Words() []string {
	var words []string
	add := func(flag string, values []string) {
		for _, value := range values {
			words = append(words, flag+" "+value)
		}
	}
	add("--only", r.Selection.Only)
	add("--skip", r.Selection.Skip)
	add("--from", r.Selection.From)
	add("--until", r.Selection.Until)
	if r.Rest.Failed {
		words = append(words, "--failed")
	}
	if r.Rest.Resume {
		words = append(words, "--resume")
	}
	return append(words, targetWords(r.Targets)...)
}

// SessionOptions returns the options to open the environment with. Secrets and checks are about the projects that
// are left to do.
func (r Request) SessionOptions() session.Options {
	o := r.Options
	switch {
	case r.Repair:
		o.Narrow = r.selectCutOff
	case r.Rest.IsAsked():
		o.Narrow = r.selectRest
	case r.Targets.Any():
		o.Narrow = r.selectTargets
	}
	return o
}

// NeedsApproval reports whether the operation asks before it changes something.
func (r Request) NeedsApproval() bool {
	return !r.Yes && r.Plan.Hold == nil && r.Operation.ChangesResources()
}

// previews reports whether the operation is a preview, or begins with one.
func (r Request) previews() bool { return r.Operation == operation.Preview || r.Operation.Deploys() }

// judges reports whether rules, costs or a policy pack may forbid an up, which then previews first.
func (r Request) judges() bool {
	return r.Operation.Deploys() && (r.Guards.MaxMonthly != nil || len(r.Guards.Packs) > 0 ||
		slices.ContainsFunc(r.Guards.All, guard.Guard.Judges))
}

// maySkip reports whether unchanged projects are skipped. They run if the user wants to
// see an effect of the run, such as a simulated failure.
func (r Request) maySkip() bool {
	return r.Operation.Deploys() && !r.Force && !r.Execution.Refresh && !r.Targets.Any() && r.Plan.Hold == nil && len(r.Guards.Packs) == 0 &&
		len(r.Simulation.Fail)+len(r.Simulation.Slow) == 0 && r.Simulation.Cluster == ""
}

// isProtected reports whether an environment is protected from losing data.
func (r Request) isProtected(s *session.Resolved) bool {
	return s.Settings.Config.Protected() != (config.Origin{}) && !slices.Contains(r.Allow, s.Settings.Stack.Text)
}

// firstWait is the delay before the first retry.
const firstWait = 5 * time.Second

// limits returns the limit for all projects and the limits for single ones: from
// mara.yaml, overridden by the last limit of the command line that names the project.
func (e Execution) limits(p plan.Plan) (all time.Duration, single map[string]time.Duration, err error) {
	single = map[string]time.Duration{}
	for _, step := range p.Steps {
		if own := step.Project.Own; own != nil && own.Timeout > 0 {
			single[step.Project.Name] = own.Timeout
		}
	}
	for _, t := range e.Timeouts {
		if t.Term == "" {
			all = t.Limit
			continue
		}
		names, err := p.Match("--timeout", t.Term)
		if err != nil {
			return 0, nil, err
		}
		for _, name := range names {
			single[name] = t.Limit
		}
	}
	return all, single, nil
}

// retry returns when to retry a project, and how long to wait for a locked one. The
// delay is shorter on simulated clouds.
func (e Execution) retry(s request.Simulation, lockWait time.Duration) executor.Retry {
	wait := firstWait
	if s.On {
		wait = time.Duration(float64(firstWait) / s.Speed)
	}
	return executor.Retry{
		Max: e.Retry, Backoff: wait, Transient: stacks.Transient, Locked: stacks.Locked, LockWait: lockWait,
	}
}

// retries returns how often projects are retried that say so in mara.yaml. The flag comes first.
func (j *job) retries() map[string]int {
	all := map[string]int{}
	for _, step := range j.w.plan.Steps {
		if own := step.Project.Own; own != nil && own.Retry != nil && j.Execution.Retry == 0 {
			all[step.Project.Name] = *own.Retry
		}
	}
	return all
}
