package event

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"mara/projects/model/operation"
)

// SummaryFormat is the version of the summary's JSON form. It grows when a
// field changes its meaning or goes away.
const SummaryFormat = 1

// Summary is the result of reducing a run's events. Renderers, reports and the exit code
// share this reducer, and as JSON it is the summary of a run on disk. Its size depends on
// the plan and on the failures, not on the number of events.
type Summary struct {
	Format    int                 `json:"format"`
	Run       string              `json:"run"`
	Operation operation.Operation `json:"operation"`
	Environment
	Fleet    bool `json:"fleet,omitempty"` // the steps are environments
	Parallel int  `json:"parallel"`
	Origin
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`

	// Result is empty until the run has finished; see Outcome.
	Result     Result  `json:"result,omitempty"`
	DurationMS int64   `json:"duration_ms"`
	Results    Results `json:"results"`
	Changes    Changes `json:"changes"`

	Steps    []Step      `json:"steps"`
	Excluded []Exclusion `json:"excluded,omitempty"`
	Warnings []Alert     `json:"warnings,omitempty"`
	Costs    *Costs      `json:"costs,omitempty"` // at least, as a preview has found
	// SavedPlan is the plan that a preview has written, or that an up carries out.
	SavedPlan *SavedPlan `json:"plan,omitempty"`
	// Stopping says why nothing new starts any more; empty while it does.
	Stopping string `json:"stopping,omitempty"`

	said map[said]bool // the diagnostics of all steps
}

// said is a diagnostic of a project.
type said struct {
	project string
	Diagnostic
}

// Environment is what a run works on.
type Environment struct {
	Provider  string `json:"provider"`
	Stack     string `json:"stack"`
	Simulated bool   `json:"simulated"`
}

// Origin is where a run comes from, as far as that is known.
type Origin struct {
	By      string `json:"by,omitempty"`      // USER@HOST
	Commit  string `json:"commit,omitempty"`  // what the root was at in git, marked if files differed from it
	Message string `json:"message,omitempty"` // why it was run, as its user has said
}

// Of returns the first event of a run with its origin.
func (o Origin) Of(started Event) Event {
	started.By, started.Commit, started.Message = o.By, o.Commit, o.Message
	return started
}

// Step is one project of the plan and how far it is.
type Step struct {
	Project
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`

	// Result is empty until the step has finished.
	Result Result   `json:"result,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Causes []string `json:"causes,omitempty"`
	// Why lists what made the project run: files, keys, outputs, variables, warnings.
	Why []string `json:"why,omitempty"`
	// Unchanged is the run since which nothing has changed for a skipped step.
	Unchanged  string  `json:"unchanged,omitempty"`
	Link       string  `json:"link,omitempty"` // to the page of the update at Pulumi Cloud
	Changes    Changes `json:"changes"`
	DurationMS int64   `json:"duration_ms"`
	Run        string  `json:"run,omitempty"` // of an environment in a fleet: the run that it was
	Error      string  `json:"error,omitempty"`
	Hint       string  `json:"hint,omitempty"` // what to do about the error
	// Attempt is how often the step was tried; zero means once.
	Attempt int `json:"attempt,omitempty"`
	// Unknown are the projects whose outputs a preview did not know.
	Unknown []string `json:"unknown,omitempty"`

	// Differences are what a look for drift has found, or what a preview says
	// would change.
	Differences []Difference `json:"differences,omitempty"`

	// Outputs are the outputs of its stack that an up or a preview changes.
	Outputs []OutputChange `json:"outputs,omitempty"`

	Hooks       []Hook       `json:"hooks,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
}

// Hook is one hook of a step.
type Hook struct {
	Name       string    `json:"name"`
	Started    time.Time `json:"started"`
	Result     Result    `json:"result,omitempty"`
	DurationMS int64     `json:"duration_ms"`
	Error      string    `json:"error,omitempty"`
}

// Difference is a resource that others have changed or deleted, or that an up
// would change.
type Difference struct {
	Resource   Resource `json:"resource"`
	Action     Action   `json:"action"` // what a refresh would do to the state, or up to the resource
	Properties []string `json:"properties,omitempty"`
	// Values are the values that differ, as far as they are known and may be shown.
	Values []ValueChange `json:"values,omitempty"`
	// Stateful means that the resource holds data.
	Stateful bool `json:"stateful,omitempty"`
	// Vague means that no value that differs is known yet: the change may turn out to be none.
	Vague bool `json:"vague,omitempty"`
}

// Diagnostic is a warning or an error that belongs to a step. Lesser messages
// are in the events only.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Resource Resource `json:"resource,omitzero"`
}

// Text returns the message after the resource that it is about, if there is one, and a separator.
func (d Diagnostic) Text(separator string) string {
	return strings.TrimPrefix(d.Resource.String()+separator+d.Message, separator)
}

// Alert is a warning of the run, about a project if it names one.
type Alert struct {
	Project string   `json:"project,omitempty"`
	Message string   `json:"message"`
	Finding *Finding `json:"finding,omitempty"` // what a guard has found
	// Undeclared is a project that the program reads, and the plan does not declare.
	Undeclared string `json:"undeclared,omitempty"`
}

// Duration returns how long the run has taken.
func (s *Summary) Duration() time.Duration { return time.Duration(s.DurationMS) * time.Millisecond }

// Duration returns how long the step has taken, with its hooks.
func (s Step) Duration() time.Duration { return time.Duration(s.DurationMS) * time.Millisecond }

// Duration returns how long the hook has taken.
func (h Hook) Duration() time.Duration { return time.Duration(h.DurationMS) * time.Millisecond }

// Summarise folds a stream. At an error of the stream it returns what it has
// seen until then, with the error.
func Summarise(events iter.Seq2[Event, error]) (*Summary, error) {
	s := &Summary{}
	for e, err := range events {
		if err != nil {
			return s, err
		}
		s.Apply(e)
	}
	return s, nil
}

// Outcome returns how the run ended. A run whose last event is missing was
// interrupted, however well it looked until then.
func (s *Summary) Outcome() Result {
	return cmp.Or(s.Result, Interrupted)
}

// Step returns the step of a project and its position in the plan, counted
// from one. Events about a project that the plan does not hold have none.
func (s *Summary) Step(project string) (step *Step, position int) {
	for i := range s.Steps {
		if s.Steps[i].Name == project {
			return &s.Steps[i], i + 1
		}
	}
	return nil, 0
}

// Running returns the names of the projects that have started and not
// finished, in plan order.
func (s *Summary) Running() []string {
	var names []string
	for _, step := range s.Steps {
		if !step.Started.IsZero() && step.Result == "" {
			names = append(names, step.Name)
		}
	}
	return names
}

// Emit implements Sink.
func (s *Summary) Emit(e Event) { s.Apply(e) }

// Apply adds one event.
func (s *Summary) Apply(e Event) {
	switch e.Type {
	case RunStarted:
		s.start(e)
	case RunStopping:
		s.Stopping = e.Reason
	case RunCosts:
		s.Costs = e.Costs
	case RunPlan:
		s.SavedPlan = e.Plan
	case RunWarning:
		s.Warnings = append(s.Warnings, Alert{e.Project, e.Message, e.Finding, e.Undeclared})
	case RunFinished:
		s.Result, s.DurationMS, s.Finished = e.Result, e.DurationMS, e.Time
	default:
		if step, _ := s.Step(e.Project); step != nil {
			s.applyStep(step, e)
		}
	}
}

// start begins the summary of a run.
func (s *Summary) start(e Event) {
	*s = Summary{
		Format: SummaryFormat, Run: e.Run, Operation: e.Operation, Environment: Environment{e.Provider, e.Stack, e.Simulated},
		Fleet: e.Fleet, Parallel: e.Parallel, Started: e.Time,
		Origin:   Origin{e.By, e.Commit, e.Message},
		Warnings: s.Warnings, // a warning may come before the run starts
		Steps:    make([]Step, len(e.Projects)),
		Excluded: e.Excluded,
	}
	for i, p := range e.Projects {
		s.Steps[i] = Step{Project: p}
	}
}

// applyStep adds an event that belongs to a step.
func (s *Summary) applyStep(step *Step, e Event) {
	switch e.Type {
	case StepStarted:
		step.Started = e.Time
	case StepProgress:
		if s.Operation == operation.Drift || s.Operation == operation.Preview {
			step.differ(e)
		}
		step.countSoFar(s.Operation, e)
	case StepOutputs:
		step.Outputs = e.Outputs
	case StepLog:
		s.log(step, e)
	case StepRetrying:
		step.retry(e)
		s.said = nil
	case HookStarted:
		step.Hooks = append(step.Hooks, Hook{Name: e.Hook, Started: e.Time})
	case HookFinished:
		step.finishHook(e)
	case StepFinished:
		step.finish(e)
		s.Results = s.Results.CountStep(e.Project, e.Result, e.Unchanged)
		s.Changes = s.Changes.Plus(step.Changes)
	}
}

// About says who ran it, at which commit and why, as far as that is known.
func (o Origin) About() string {
	var parts []string
	if o.By != "" {
		parts = append(parts, "by "+o.By)
	}
	if o.Commit != "" {
		parts = append(parts, "commit "+o.Commit)
	}
	if o.Message != "" {
		parts = append(parts, strconv.Quote(o.Message))
	}
	return strings.Join(parts, ", ")
}

// Progress returns how many projects or environments have ended, and how many there are in
// total. Ends of waves do not count.
func (s *Summary) Progress() (ended, all int) {
	for _, step := range s.Steps {
		if EndsWave(step.Name) {
			continue
		}
		all++
		if step.Result != "" {
			ended++
		}
	}
	return ended, all
}

// Noun returns what a step of the run is: a project or an environment.
func (s *Summary) Noun() string {
	if s.Fleet {
		return "environment"
	}
	return "project"
}

// Ran reports whether the step did anything: not one that never started, nor
// one that found nothing to do.
func (s Step) Ran() bool { return !s.Started.IsZero() && s.Result != Skipped }

// LeftOut returns what a selection has skipped: projects, or environments without the ends of their waves.
func (s *Summary) LeftOut() []Exclusion {
	return slices.DeleteFunc(slices.Clone(s.Excluded), func(x Exclusion) bool { return s.Fleet && EndsWave(x.Name) })
}

// Errors returns why the step failed: the engine's diagnostics, then the
// step's own error unless a diagnostic has said it already, and then the hint.
func (s Step) Errors() []Diagnostic {
	var out []Diagnostic
	said := s.Error == ""
	for _, d := range s.Diagnostics {
		if d.Severity == Error {
			out = append(out, d)
			// Either may frame the other: "X failed: <first line>".
			first, _, _ := strings.Cut(d.Message, "\n")
			said = said || strings.Contains(d.Message, s.Error) || strings.Contains(s.Error, first)
		}
	}
	if !said {
		out = append(out, Diagnostic{Severity: Error, Message: s.Error})
	}
	if s.Hint != "" {
		out = append(out, Diagnostic{Severity: Info, Message: "hint: " + s.Hint})
	}
	return out
}

// log keeps what a user has to see once the step is over.
func (s *Summary) log(step *Step, e Event) {
	if len(e.Why) > 0 {
		step.Why = e.Why
	}
	if e.Severity != Warning && e.Severity != Error {
		return
	}
	if s.said == nil {
		s.said = map[said]bool{}
		for _, other := range s.Steps {
			for _, d := range other.Diagnostics {
				s.said[said{other.Name, d}] = true
			}
		}
	}
	d := Diagnostic{Severity: e.Severity, Message: e.Message, Resource: e.Resource}
	if key := (said{step.Name, d}); !s.said[key] { // the engine repeats itself
		s.said[key] = true
		step.Diagnostics = append(step.Diagnostics, d)
	}
}

// differ keeps a resource that is not as the state has it.
func (s *Step) differ(e Event) {
	changes := Changes{}.Count(e.Action)
	if e.Status == ActionDone && changes.Any() {
		s.Differences = append(s.Differences, Difference{
			Resource: e.Resource, Action: e.Action, Properties: e.Properties, Values: e.Values, Stateful: e.Stateful, Vague: e.Vague,
		})
	}
}

// IsLoss reports whether a resource is replaced or deleted.
func (d Difference) IsLoss() bool { return d.Action == Replace || d.Action == Delete }

// retry forgets the errors of an attempt that is not the last: they are not why
// the step ended as it did, and if they are, they come again.
func (s *Step) retry(e Event) {
	s.Attempt, s.Differences, s.Outputs = e.Attempt, nil, nil
	s.Diagnostics = slices.DeleteFunc(s.Diagnostics, func(d Diagnostic) bool { return d.Severity == Error })
}

// finishHook ends the hook that was started last under that name.
func (s *Step) finishHook(e Event) {
	for i := len(s.Hooks) - 1; i >= 0; i-- {
		if h := &s.Hooks[i]; h.Name == e.Hook {
			h.Result, h.DurationMS, h.Error = e.Result, e.DurationMS, e.Error
			return
		}
	}
}

// finish ends the step.
func (s *Step) finish(e Event) {
	s.Finished, s.Result, s.Reason, s.Causes = e.Time, e.Result, e.Reason, e.Causes
	s.Unchanged, s.Link = e.Unchanged, e.Link
	s.DurationMS, s.Error, s.Hint, s.Attempt, s.Unknown = e.DurationMS, e.Error, e.Hint, e.Attempt, e.Unknown
	s.Run = e.Ran
	if e.Changes != nil {
		s.Changes = *e.Changes
	}
}

// Failure is why steps have failed. Steps with the same errors share one: a
// cluster that cannot be reached fails every project in it.
type Failure struct {
	Steps  []Step
	Errors []Diagnostic
}

// Failures returns why steps have failed, in the order of the plan.
func (s *Summary) Failures() []Failure {
	var failures []Failure
	for _, step := range s.Steps {
		if step.Result != Failed {
			continue
		}
		errs := step.Errors()
		i := slices.IndexFunc(failures, func(f Failure) bool { return slices.Equal(f.Errors, errs) })
		if i < 0 {
			i = len(failures)
			failures = append(failures, Failure{Errors: errs})
		}
		failures[i].Steps = append(failures[i].Steps, step)
	}
	return failures
}

// Title names the projects that have failed.
func (f Failure) Title() string {
	var titles []string
	for _, step := range f.Steps {
		titles = append(titles, step.Label())
	}
	return strings.Join(titles, ", ")
}
