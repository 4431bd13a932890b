// Package event holds the closed set of facts that a run emits, their form on
// disk and on the wire (NDJSON), and what they add up to.
//
// Everything a user sees is made from events: the terminal, the JSON stream,
// the run directory, reports and the exit code. One flat structure carries every
// type, as the test2json tool of Go does, so that a reader decodes each line
// the same way and looks at the type afterwards. The fields that a type uses
// are listed at its constant.
//
// An event never carries a secret: values are masked where they are read, and
// an Emitter masks the free text once more (see Masker).
package event

import (
	"fmt"
	"strings"
	"time"

	"mara/projects/model/needs"
	"mara/projects/model/operation"
)

// Format is the version of the event format, sent in run.started. It grows
// only when a reader of the previous version would misunderstand a stream; new
// fields and new types do not count, readers ignore what they do not know.
const Format = 1

// Type says what happened.
type Type string

// The types of events, in the order in which a run emits them.
const (
	// RunStarted is the first event of a run: format, operation, provider,
	// stack, simulated, parallel, projects, and excluded if a selection has
	// left projects of the plan out. Those have no other events. by, commit and
	// message say who runs it, at which commit and why, as far as that is known.
	RunStarted Type = "run.started"
	// RunStopping says that nothing new starts from here on: reason, and in
	// waiting the projects that are still running. It may come again with
	// another reason.
	RunStopping Type = "run.stopping"
	// RunWarning is something to know that fails nothing, such as a reference
	// that differs from the declared ones: message, project if it is about one,
	// finding if a guard has found it, and undeclared if it is a reference that the
	// plan does not declare.
	RunWarning Type = "run.warning"
	// RunCosts says at the end of a preview what the environment would cost at
	// least, if anything in it costs: costs.
	RunCosts Type = "run.costs"
	// RunPlan names the saved plan that a preview has written, or that an up carries
	// out: plan.
	RunPlan Type = "run.plan"
	// StepStarted says that the work on a project begins: project, title.
	StepStarted Type = "step.started"
	// StepProgress reports one resource: project, title, resource, action,
	// status, counts (what is done in this step so far), message if it failed,
	// properties and values if it differs from what it was, and stateful if it holds data.
	StepProgress Type = "step.progress"
	// StepOutputs lists the outputs of the project's stack that a preview or an up
	// changes, once all of its resources are done: project, title, outputs. It is
	// not sent if none changes.
	StepOutputs Type = "step.outputs"
	// StepLog is a diagnostic: project, title, severity, message, and
	// resource if it is about one, and why if it says why the project runs.
	StepLog Type = "step.log"
	// StepRetrying says that a step has failed in a way that passes, and is
	// tried again: project, title, error, attempt (the one to come, from two),
	// wait_ms (the time until then).
	StepRetrying Type = "step.retrying"
	// HookStarted says that a hook begins: project, title, hook.
	HookStarted Type = "hook.started"
	// HookFinished ends a hook: project, title, hook, result, duration_ms,
	// error.
	HookFinished Type = "hook.finished"
	// StepFinished ends a step, also one that never started: project, title,
	// result, reason, causes, changes, duration_ms, error, attempt if it was
	// tried more than once, unknown if a preview is partial, hint if the error is
	// a known one, unchanged if nothing has changed since an earlier run, and link
	// to the page that Pulumi Cloud has about it.
	StepFinished Type = "step.finished"
	// RunFinished is the last event of a run: result, duration_ms, results,
	// changes.
	RunFinished Type = "run.finished"
)

// Result is how a step, a hook or a run ended.
type Result string

// The results. Runs end succeeded, failed or interrupted; hooks succeeded or
// failed; steps any but interrupted.
const (
	Succeeded Result = "succeeded"
	Failed    Result = "failed"
	// Skipped is a step that was not needed or not possible; its reason says
	// which.
	Skipped Result = "skipped"
	// Cancelled is a step that an interruption stopped or kept from starting.
	Cancelled Result = "cancelled"
	// Interrupted is a run in which a step was cancelled. It is never a
	// success.
	Interrupted Result = "interrupted"
)

// The reasons that an interruption gives, in run.stopping and for the steps
// that it cancels.
const (
	// ReasonInterrupted says that running work is finished.
	ReasonInterrupted = "interrupted"
	// ReasonCancelled says that running work is being stopped, too.
	ReasonCancelled = "cancelled"
)

// Severity is the weight of a diagnostic.
type Severity string

// The severities, rising. Messages of programs are never Debug: see stacks.
const (
	Debug   Severity = "debug"
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Action is what happens to a resource.
type Action string

// The actions on a resource.
const (
	Create  Action = "create"
	Update  Action = "update"
	Replace Action = "replace"
	Delete  Action = "delete"
	Same    Action = "same"
	Read    Action = "read"
	Reload  Action = "refresh"
	Import  Action = "import"
)

// Status is how far an action on a resource is.
type Status string

// The states of an action on a resource.
const (
	ActionStarted Status = "started"
	ActionDone    Status = "done"
	ActionFailed  Status = "failed"
)

// Resource names a resource the way a person does. A URN would repeat stack
// and project, which the event already carries.
type Resource struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// String returns type and name, separated by a space.
func (r Resource) String() string {
	if r.Type == "" {
		return r.Name
	}
	return r.Type + " " + r.Name
}

// RunProject is what events about hooks of the run itself have as their project.
// No plan has a project of that name.
const RunProject = "run"

// WavePrefix begins the name of a step that ends a wave of environments. No
// environment has a colon in its name.
const WavePrefix = "wave:"

// The reasons of the end of a wave that has nothing to do. It is not worth a line in a summary.
const (
	WaveDone     = "the wave is done"
	WaveUnwaited = "nothing to wait for"
)

// EndsWave distinguishes the end of a wave from an environment.
func EndsWave(name string) bool { return strings.HasPrefix(name, WavePrefix) }

// Project is one entry of the plan as run.started tells it: enough to draw the
// plan and its dependencies without knowing any provider.
type Project struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	needs.Needs
}

// Label names the project as people know it, and as they type it.
func (p Project) Label() string {
	if p.Title == "" || p.Title == p.Name {
		return p.Name
	}
	return p.Title + " (" + p.Name + ")"
}

// Exclusion is a project of the plan that a run skips.
type Exclusion struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Reason string `json:"reason"`
}

// Event is one fact. Which fields are set depends on the type; the constants
// of Type list them. Time and Run are set by the Emitter.
type Event struct {
	Time time.Time `json:"time"`
	Run  string    `json:"run,omitempty"`
	Type Type      `json:"type"`

	Project string `json:"project,omitempty"`
	Title   string `json:"title,omitempty"`

	Format    int                 `json:"format,omitempty"`
	Operation operation.Operation `json:"operation,omitempty"`
	Provider  string              `json:"provider,omitempty"`
	Stack     string              `json:"stack,omitempty"`
	Simulated bool                `json:"simulated,omitempty"`
	By        string              `json:"by,omitempty"`     // USER@HOST
	Commit    string              `json:"commit,omitempty"` // what the root was at in git, marked if files differed from it
	// Fleet says that the projects are environments: an operation on many of them.
	Fleet    bool        `json:"fleet,omitempty"`
	Parallel int         `json:"parallel,omitempty"`
	Projects []Project   `json:"projects,omitempty"`
	Excluded []Exclusion `json:"excluded,omitempty"`

	Resource Resource `json:"resource,omitzero"`
	Action   Action   `json:"action,omitempty"`
	Status   Status   `json:"status,omitempty"`
	Counts   *Changes `json:"counts,omitempty"`
	// Properties are the paths of what differs in a resource.
	Properties []string `json:"properties,omitempty"`
	// Values are the values of a resource that differ, as far as they may be shown.
	Values []ValueChange `json:"values,omitempty"`
	// Stateful means that the resource holds data, which a deletion or replacement loses.
	Stateful bool `json:"stateful,omitempty"`
	// Vague means that no value that differs is known yet: the change may turn out to be none.
	Vague bool `json:"vague,omitempty"`

	// Outputs are the outputs of the stack that change.
	Outputs []OutputChange `json:"outputs,omitempty"`

	Severity Severity `json:"severity,omitempty"`
	Message  string   `json:"message,omitempty"`

	Hook string `json:"hook,omitempty"`

	Attempt int   `json:"attempt,omitempty"` // how often the step has been tried, the coming attempt included
	WaitMS  int64 `json:"wait_ms,omitempty"`

	Result Result `json:"result,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Ran is the id of the run that the work on an environment of a fleet was.
	Ran string `json:"ran,omitempty"`
	// Causes are the projects whose failure made a skipped step impossible:
	// the failed ones themselves, not what was skipped in between.
	Causes []string `json:"causes,omitempty"`
	// Unchanged is the run since which nothing that a skipped project depends on has
	// changed.
	Unchanged string `json:"unchanged,omitempty"`
	// Link leads to the page of the update at Pulumi Cloud.
	Link string `json:"link,omitempty"`
	// Undeclared is a project that the program reads, and the plan does not declare.
	Undeclared string `json:"undeclared,omitempty"`
	// Why lists what made the project run.
	Why []string `json:"why,omitempty"`
	// Finding is what a guard has found.
	Finding *Finding `json:"finding,omitempty"`
	// Costs are what the environment costs at least.
	Costs *Costs `json:"costs,omitempty"`
	// Plan is a saved plan.
	Plan *SavedPlan `json:"plan,omitempty"`
	// Unknown are the projects whose outputs a preview has read before they are
	// known: what it tells about the project is partial.
	Unknown []string `json:"unknown,omitempty"`
	// Waiting are the projects that still run while a run is stopping.
	Waiting    []string `json:"waiting,omitempty"`
	Changes    *Changes `json:"changes,omitempty"`
	Results    *Results `json:"results,omitempty"`
	DurationMS int64    `json:"duration_ms,omitempty"`
	Error      string   `json:"error,omitempty"`
	// Hint is what to do about the error, if it is a known one.
	Hint string `json:"hint,omitempty"`
}

// Duration returns how long what the event ends has taken.
func (e Event) Duration() time.Duration {
	return time.Duration(e.DurationMS) * time.Millisecond
}

// Wait returns how long a step that failed waits until it is tried again.
func (e Event) Wait() time.Duration {
	return time.Duration(e.WaitMS) * time.Millisecond
}

// Say emits a line of a step's log.
func Say(emit func(Event), severity Severity, format string, args ...any) {
	emit(Event{Type: StepLog, Severity: severity, Message: fmt.Sprintf(format, args...)})
}

// FromESC begins the message that says which values come from Pulumi ESC. Every view has it: they are in no file.
const FromESC = "from Pulumi ESC: "

// WithoutResources passes on the warnings and logs of an operation: its resources are not those of the step that it
// runs in.
func WithoutResources(emit func(Event)) func(Event) {
	return func(e Event) {
		if e.Type == RunWarning || e.Type == StepLog {
			emit(e)
		}
	}
}

// Sink receives events. An Emitter calls its sinks one after the other from
// one goroutine, so a sink needs no lock. A sink that cannot write keeps its
// error to itself: it must not stop the run.
type Sink interface {
	Emit(Event)
}
