// Package guard is the seam for what may refuse an operation: rules, costs, and what comes next. Main lists the guards.
// They are asked in that order, at the moments that Watch has; the first refusal ends the operation.
package guard

import (
	"context"
	"fmt"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/updateplan"
)

// Maker makes a guard of a request, and reads its files. It returns nil if the guard has nothing to do.
type Maker func(Request) (Guard, error)

// Request is what a guard is made of.
type Request struct {
	Root      string
	Operation operation.Operation // a preview, or one that begins with a preview
	Limits    Limits
}

// Limits are those of the command line.
type Limits struct {
	MaxMonthly *float64 // what an environment may cost; nil for anything
	UnknownOK  bool     // what cannot be priced does not count
}

// Guard may refuse operations, on several environments in a rollout. Embed Silent, and write only the methods that you
// need.
type Guard interface {
	// Judges reports whether it may forbid an up, which then previews first.
	Judges() bool
	// Prepare reads what the guard needs for a preview. It is called before anything is opened, if there will be one.
	Prepare() error
	// MayRest reports whether an up has nothing to do if no project has changed since the last one.
	MayRest(context.Context, *session.Reading) bool
	// Open watches an operation on an open environment, before any program runs; nil watches nothing.
	Open(context.Context, Job) (Watch, error)
}

// Watch watches one operation. Embed Nothing, and write only the methods that you need.
type Watch interface {
	// Fresh reports whether a preview takes the resources of a project for not there, whatever its state says.
	Fresh(project string) bool
	// Begin emits what is lost already, before losses are counted.
	Begin(emit func(event.Event))
	// Holds says what is lost with the cluster of the environment; "" if the guard does not know.
	Holds() string
	// Look looks at what a preview has found, and emits findings.
	Look(ctx context.Context, document updateplan.Document, emit func(event.Event)) error
	// Decide refuses what Look has found. All guards have looked by then.
	Decide(emit func(event.Event)) error
	// Again judges a project that was previewed again, with the real outputs of the projects before it, right before an
	// up touches it.
	Again(ctx context.Context, project string, document updateplan.Document, emit func(event.Event)) error
	// Settle changes what an up that is approved needs changed before its first project. isShown says that a preview has
	// shown what Begin emits.
	Settle(ctx context.Context, isShown bool) error
	// IsDue reports whether a project has to be previewed right before an up touches it, to see what is lost.
	IsDue(stacks.Task) bool
	// Before is asked right before a project; an error fails that project only.
	Before(ctx context.Context, task stacks.Task, emit func(event.Event)) error
	// Conclusion returns what a screen shows below a preview; "" for nothing.
	Conclusion() string
}

// Job is the operation that is watched. Guards only read it.
type Job struct {
	Session *session.Open
	Plan    plan.Plan // of the selected projects
	// Resources is how many resources of one project change at once; 0 leaves it to Pulumi.
	Resources int
	// Warn adds a warning to the run.
	Warn func(format string, args ...any)
	// Finding emits a finding with its place in the repository. The text is what screens show; "" for its message.
	Finding func(emit func(event.Event), f event.Finding, text string)
	// InRepository returns the path in the git repository of a file below the root.
	InRepository func(file string) string
}

// Silent is a guard without a watch.
type Silent struct{}

// Judges implements Guard.
func (Silent) Judges() bool { return false }

// Prepare implements Guard.
func (Silent) Prepare() error { return nil }

// MayRest implements Guard.
func (Silent) MayRest(context.Context, *session.Reading) bool { return true }

// Open implements Guard.
func (Silent) Open(context.Context, Job) (Watch, error) { return nil, nil }

// Nothing is a watch that refuses nothing.
type Nothing struct{}

// Fresh implements Watch.
func (Nothing) Fresh(string) bool { return false }

// Begin implements Watch.
func (Nothing) Begin(func(event.Event)) {}

// Holds implements Watch.
func (Nothing) Holds() string { return "" }

// Settle implements Watch.
func (Nothing) Settle(context.Context, bool) error { return nil }

// IsDue implements Watch.
func (Nothing) IsDue(stacks.Task) bool { return false }

// Before implements Watch.
func (Nothing) Before(context.Context, stacks.Task, func(event.Event)) error { return nil }

// Look implements Watch.
func (Nothing) Look(context.Context, updateplan.Document, func(event.Event)) error { return nil }

// Decide implements Watch.
func (Nothing) Decide(func(event.Event)) error { return nil }

// Again implements Watch.
func (Nothing) Again(context.Context, string, updateplan.Document, func(event.Event)) error {
	return nil
}

// Conclusion implements Watch.
func (Nothing) Conclusion() string { return "" }

// Refused says what a guard forbids, and what to do.
type Refused struct {
	By         refusal.Guard
	What, Next string
}

// RefusedBy returns the guard.
func (e *Refused) RefusedBy() refusal.Guard { return e.By }

// Error says why.
func (e *Refused) Error() string { return fmt.Sprintf("forbidden by %s; nothing was changed", e.What) }

// NextStep says what to do.
func (e *Refused) NextStep() string { return e.Next }
