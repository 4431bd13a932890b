// Package guard is the seam for what may refuse an operation: rules, costs, and what comes next. Main lists the guards.
// They are asked in that order, at the moments that Watch has; the first refusal ends the operation.
package guard

import (
	"context"
	"fmt"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
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

// Guard may refuse operations, on several environments in a rollout.
type Guard interface {
	// Judges reports whether it may forbid an up, which then previews first.
	Judges() bool
	// Prepare reads what the guard needs for a preview. It is called before anything is opened, if there will be one.
	Prepare() error
	// Open watches an operation on an open environment, before any program runs; nil watches nothing.
	Open(context.Context, Job) (Watch, error)
}

// Watch watches one operation. Embed Nothing, and write only the methods that you need.
type Watch interface {
	// Look looks at what a preview has found, and emits findings.
	Look(ctx context.Context, document updateplan.Document, emit func(event.Event)) error
	// Decide refuses what Look has found. All guards have looked by then.
	Decide(emit func(event.Event)) error
	// Again judges a project that was previewed again, with the real outputs of the projects before it, right before an
	// up touches it.
	Again(ctx context.Context, project string, document updateplan.Document, emit func(event.Event)) error
	// Conclusion returns what a screen shows below a preview; "" for nothing.
	Conclusion() string
}

// Job is the operation that is watched. Guards only read it.
type Job struct {
	Session *session.Session
	Plan    plan.Plan // of the selected projects
	// Finding emits a finding with its place in the repository. The text is what screens show; "" for its message.
	Finding func(emit func(event.Event), f event.Finding, text string)
	// InRepository returns the path in the git repository of a file below the root.
	InRepository func(file string) string
}

// Nothing is a watch that refuses nothing.
type Nothing struct{}

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
type Refused struct{ What, Next string }

// Error says why.
func (e *Refused) Error() string { return fmt.Sprintf("forbidden by %s; nothing was changed", e.What) }

// NextStep says what to do.
func (e *Refused) NextStep() string { return e.Next }
