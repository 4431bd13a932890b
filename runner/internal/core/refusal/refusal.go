// Package refusal lists the guards: everything that may refuse an operation although it could be carried out. An error
// says by its mark which of them it comes from, and the page on guards is made of this list.
package refusal

import "errors"

// Guard names a guard in events and reports.
type Guard string

// Before something is deployed or destroyed.
const (
	Question      Guard = "question"
	AutoApprove   Guard = "auto-approve-if"
	Approval      Guard = "approval"
	Protection    Guard = "protection"
	Cluster       Guard = "cluster"
	Rule          Guard = "rule" // events have the name of the rule
	PolicyPack    Guard = "policy-pack"
	MaxMonthly    Guard = "max-monthly"
	Plan          Guard = "plan"
	PlanDigest    Guard = "plan-digest"
	MissingOutput Guard = "missing-output"
	Backend       Guard = "backend"
	NewStack      Guard = "new-environment"
	UnknownStack  Guard = "unknown-environment"
	Rename        Guard = "rename"
	Repository    Guard = "other-repository"
	Account       Guard = "other-account"
	LostState     Guard = "lost-state"
	StateMove     Guard = "state-move"
	Lock          Guard = "lock"
	Protected     Guard = "protected-resource"
	Readers       Guard = "orphan-readers"
	LeftBehind    Guard = "leave-behind"
	UnknownAge    Guard = "unknown-age"
)

// In a rollout.
const (
	Promotion   Guard = "promotion"
	Gate        Guard = "gate"
	MaxFailures Guard = "max-failures"
)

// Stage is what a guard belongs to, in the order of the page.
type Stage string

// The stages.
const (
	Deploying  Stage = "deploying"
	Destroying Stage = "destroying"
	RollingOut Stage = "rolling-out"
)

// Entry is what is known of a guard, in Markdown for the page on guards.
type Entry struct {
	Guard Guard
	Stage Stage
	Name  string
	// Refuses is what it refuses, with the exit code if that is not 1.
	Refuses string
	// Undecided is what it does if it cannot decide; "" if it always can.
	Undecided string
	// Override is what lets a run pass all the same; nothing else does.
	Override string
	// Flags are those of the command line that Override names. Each works from its variable as well.
	Flags []string
}

// refused is an error of a guard.
type refused struct {
	error
	guard Guard
}

// RefusedBy returns the guard.
func (e *refused) RefusedBy() Guard { return e.guard }

// Unwrap returns the error without its mark.
func (e *refused) Unwrap() error { return e.error }

// By marks an error as the refusal of a guard; nil stays nil.
func By(guard Guard, err error) error {
	if err == nil {
		return nil
	}
	return &refused{err, guard}
}

// Of returns the guard that an error comes from, by its method RefusedBy; "" if none has refused.
func Of(err error) Guard {
	if e, ok := errors.AsType[interface {
		error
		RefusedBy() Guard
	}](err); ok {
		return e.RefusedBy()
	}
	return ""
}
