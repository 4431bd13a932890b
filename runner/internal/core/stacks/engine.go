package stacks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/updateplan"
)

// Types of resources that the engine itself keeps.
const (
	stackType     = "pulumi:pulumi:Stack"
	referenceType = "pulumi:pulumi:StackReference"
	providerType  = "pulumi:providers:"
)

// engineEvents turns the engine's events into events of the run and collects the
// result of the operation.
type engineEvents struct {
	channel chan events.EngineEvent
	emit    func(event.Event)
	stop    chan struct{}   // closed when the operation has returned
	done    chan struct{}   // closed when the reader has ended
	arrived chan<- struct{} // closed when the first event, or the end of all, has come

	summary     *event.Changes     // the engine's own; nil until it comes
	correction  event.Changes      // what we count otherwise than the engine does
	finished    event.Changes      // resources done so far
	begun       map[string]bool    // URNs of the resources that were reported as started
	references  map[string]bool    // fully qualified names of the stacks that were read
	errors      []string           // error diagnostics, in order, except those about an unreachable cluster
	warnings    []event.Diagnostic // the emitted warnings, each once
	unreachable unreachable
	vague       int           // resources whose provider has inputs that the preview does not know
	failed      []string      // resources whose action failed
	notReady    bool          // something in a cluster did not become ready in time
	stuck       []string      // Namespaces that did not go in time
	outputs     *stackOutputs // of the stack itself

	mask func(string) string // hides secrets in steps; nil keeps no steps
	// compared returns a step with the values to compare: the inputs of a preview, or what a look at the cloud has found.
	// Nil compares none.
	compared func(apitype.StepEventMetadata) (updateplan.Step, bool)
	steps    []updateplan.Step

	regions map[string]string // of the providers, by URN
}

func newEngineEvents(emit func(event.Event), arrived chan<- struct{}) *engineEvents {
	e := &engineEvents{
		channel:    make(chan events.EngineEvent),
		emit:       emit,
		stop:       make(chan struct{}),
		done:       make(chan struct{}),
		arrived:    arrived,
		begun:      map[string]bool{},
		references: map[string]bool{},
		regions:    map[string]string{},
	}
	go e.read()
	return e
}

// wait returns when all events are read. It is called once, after the operation.
func (e *engineEvents) wait() {
	close(e.stop)
	<-e.done
}

// read takes events until the Automation API closes the channel. If the command
// fails before it has connected, the API never closes it. No event comes after
// the operation has returned, because its event server has stopped.
func (e *engineEvents) read() {
	defer close(e.done)
	arrived := sync.OnceFunc(func() { close(e.arrived) })
	for {
		select {
		case ev, open := <-e.channel:
			arrived()
			if !open {
				return
			}
			e.take(ev)
		case <-e.stop:
			return
		}
	}
}

// result returns what the operation has changed: the counts of the engine's
// summary or, if the engine was killed before it, of the steps finished by then.
func (e *engineEvents) result() event.Changes {
	if e.summary != nil {
		return e.summary.Plus(e.correction)
	}
	return e.finished
}

func (e *engineEvents) take(ev events.EngineEvent) {
	switch {
	case ev.ResourcePreEvent != nil:
		e.started(ev.ResourcePreEvent.Metadata)
	case ev.ResOutputsEvent != nil:
		e.ended(ev.ResOutputsEvent.Metadata)
	case ev.ResOpFailedEvent != nil:
		e.actionFailed(*ev.ResOpFailedEvent)
	case ev.DiagnosticEvent != nil:
		e.diagnostic(*ev.DiagnosticEvent)
	case ev.PolicyEvent != nil:
		e.policy(*ev.PolicyEvent)
	case ev.SummaryEvent != nil:
		changes := changesOf(ev.SummaryEvent.ResourceChanges)
		e.summary = &changes
	}
}

func (e *engineEvents) started(step apitype.StepEventMetadata) {
	if step.Type == referenceType && step.New != nil {
		if name, ok := step.New.Inputs["name"].(string); ok {
			e.references[name] = true
		}
	}
	e.noteRegion(step)
	if e.mask != nil {
		if planned, ok := updateplan.NewStep(step, e.mask); ok {
			planned.Properties = propertiesOf(step)
			planned.Region = e.regionOf(step)
			e.steps = append(e.steps, planned)
		}
	}
	e.progress(step, event.ActionStarted)
}

func (e *engineEvents) ended(step apitype.StepEventMetadata) {
	e.noteOutputs(step)
	if op := countedAs(step); op != step.Op {
		e.correction = e.correction.Plus(changesOf(map[apitype.OpType]int{step.Op: -1, op: 1}))
		step.Op = op
	}
	e.finished = e.finished.Plus(changesOf(map[apitype.OpType]int{step.Op: 1}))
	e.progress(step, event.ActionDone)
}

// countedAs returns the operation that a finished step counts as. A resource that
// a program only reads cannot drift, because the program does not own it. A
// resource that its provider calls unhealthy has changed, even if none of its
// properties has.
func countedAs(step apitype.StepEventMetadata) apitype.OpType {
	switch {
	case step.Old != nil && step.Old.External && (step.Op == apitype.OpUpdate || step.Op == apitype.OpDelete):
		return apitype.OpSame
	case step.Op == apitype.OpSame && step.New != nil && len(step.New.InitErrors) > 0:
		return apitype.OpUpdate
	}
	return step.Op
}

// actionFailed takes a step that has failed. A resource that was changed and did not become ready is a change, which the
// engine's summary does not count.
func (e *engineEvents) actionFailed(failed apitype.ResOpFailedEvent) {
	step := failed.Metadata
	if resource.Status(failed.Status) == resource.StatusPartialFailure || failed.Awaited {
		op := step.Op
		if op == apitype.OpCreateReplacement {
			op = apitype.OpReplace
		}
		if made := changesOf(map[apitype.OpType]int{op: 1}); made.Create+made.Update+made.Replace > 0 {
			made.NotReady = 1
			e.correction, e.finished = e.correction.Plus(made), e.finished.Plus(made)
		}
	}
	e.failed = append(e.failed, resourceOf(step.URN).String())
	e.progress(step, event.ActionFailed)
}

// progress reports a resource that is being worked on. A resource that stays the
// same is only counted, unless work was needed to find that out, as in a refresh.
func (e *engineEvents) progress(step apitype.StepEventMetadata, status event.Status) {
	action, shown := actionOf(step)
	if !shown || action == event.Same && !e.begun[step.URN] {
		return
	}
	if status == event.ActionStarted {
		e.begun[step.URN] = true
	} else {
		delete(e.begun, step.URN)
	}
	counts := e.finished
	progress := event.Event{
		Type:     event.StepProgress,
		Resource: resourceOf(step.URN),
		Action:   action,
		Status:   status,
		Counts:   &counts,

		Properties: propertiesOf(step),
	}
	if e.compared != nil && status == event.ActionDone {
		progress.Stateful = updateplan.IsStateful(step.Type)
		if action == event.Update || action == event.Replace { // all others have no two values
			if found, ok := e.compared(step); ok {
				found.Properties = progress.Properties
				progress.Values = found.Changes()
				progress.Vague = action == event.Update && updateplan.IsVague(progress.Values)
			}
		}
	}
	e.emit(progress)
}

// diagnostic emits a message of the engine, a provider or the program. It drops debug
// messages: the SDKs for TypeScript and Python print all that they send and receive in
// them, with secret values in the clear. Pulumi does not show them by default, either.
func (e *engineEvents) diagnostic(d apitype.DiagnosticEvent) {
	if d.Ephemeral || d.Severity == string(event.Debug) {
		return
	}
	message := tidy(colors.Never.Colorize(d.Message))
	if unknownProvider.MatchString(message) {
		e.vague++
		return
	}
	severity := severityOf(d.Severity)
	resource := resourceOf(d.URN)
	if message == "" || ambientHost.MatchString(message) || severity == event.Error && isEcho(message, resource) ||
		e.unreachable.note(message) {
		return
	}
	if severity == event.Error {
		e.errors = append(e.errors, message)
		e.notReady = e.notReady || isNotReady(resource.Type, message)
		if resource.Type == namespaceType && tooLate.MatchString(message) {
			e.stuck = append(e.stuck, resource.Name)
		}
	}
	if found := (event.Diagnostic{Severity: severity, Message: message,
		Resource: resource}); severity == event.Warning && !slices.Contains(e.warnings, found) {
		e.warnings = append(e.warnings, found)
	}
	e.emit(event.Event{Type: event.StepLog, Severity: severity, Message: message, Resource: resource})
}

// policy passes on what a policy pack of Pulumi's has found, one of the user's or one that an organization enforces.
func (e *engineEvents) policy(p apitype.PolicyEvent) {
	text := tidy(colors.Never.Colorize(p.Message))
	message := fmt.Sprintf("policy %s of %s: %s", p.PolicyName, p.PolicyPackName, text)
	finding := event.Finding{Rule: p.PolicyPackName + "/" + p.PolicyName, Level: event.LevelWarn, Message: text,
		Resource: resourceOf(p.ResourceURN), URN: p.ResourceURN}
	if parsed, err := resource.ParseOptionalURN(p.ResourceURN); err == nil && parsed != "" {
		finding.Project = string(parsed.Project())
	}
	if p.EnforcementLevel == string(apitype.Mandatory) {
		finding.Level = event.LevelDeny
		e.errors = append(e.errors, message)
	}
	e.emit(event.NewFinding(finding, message))
}

// ambientHost is how Pulumi warns of a language host that a user has installed and
// that goes before the one beside the engine, or of what runs policy packs: both
// are what the user wants.
var ambientHost = regexp.MustCompile(`^using pulumi-(language|analyzer)-\S+ from \$PATH at `)

// unknownProvider is how Pulumi warns of each resource whose provider has inputs that are not known before an up. It is
// the same for all resources of a project, and goes without saying where the preview is partial.
var unknownProvider = regexp.MustCompile(`^The provider for this resource has inputs that are not known during preview`)

// bullet is how the Go SDK lists the errors of a program.
var bullet = regexp.MustCompile(`(?m)^\s*\* `)

// tidy removes what Pulumi puts around a message: the severity, which is a field
// of the event, and the frame around the errors of a Go program.
func tidy(message string) string {
	for _, frame := range frames {
		message = frame.ReplaceAllString(strings.TrimSpace(message), "")
	}
	return strings.TrimSpace(bullet.ReplaceAllString(message, ""))
}

var frames = []*regexp.Regexp{
	regexp.MustCompile(`^(error|warning|info|debug): `),
	regexp.MustCompile(`^an unhandled error occurred: `),
	regexp.MustCompile(`^program failed:?\s*`),
	regexp.MustCompile(`^\d+ errors? occurred:\s*`),
}

// isEcho reports whether an error only says that there was another one.
func isEcho(message string, resource event.Resource) bool {
	ofStack := resource.Type == "" || resource.Type == stackType
	switch message {
	case "update failed", "preview failed", "refresh failed", "destroy failed", "update canceled", "update cancelled":
		return ofStack
	}
	return false
}

// severityOf converts the severity of the engine. An unknown one is information.
func severityOf(severity string) event.Severity {
	switch known := event.Severity(severity); known {
	case event.Error, event.Warning:
		return known
	}
	return event.Info
}

// resourceOf names the resource of a URN. The stack itself has no name.
func resourceOf(urn string) event.Resource {
	parsed, err := resource.ParseOptionalURN(urn)
	if err != nil || parsed == "" {
		return event.Resource{}
	}
	if string(parsed.Type()) == stackType {
		return event.Resource{Type: stackType}
	}
	return event.Resource{Type: string(parsed.Type()), Name: parsed.Name()}
}

// actions are what the engine's operations do. The halves of a replacement are
// missing, because the replacement has a step of its own.
var actions = map[apitype.OpType]event.Action{
	apitype.OpCreate: event.Create, apitype.OpUpdate: event.Update, apitype.OpReplace: event.Replace,
	apitype.OpDelete: event.Delete,
	apitype.OpSame:   event.Same, apitype.OpRead: event.Read, apitype.OpRefresh: event.Reload,
	apitype.OpImport: event.Import, apitype.OpImportReplacement: event.Import,
}

// actionOf returns what a step does to its resource. Stack references and
// providers, which exist only in the state, are not shown.
func actionOf(step apitype.StepEventMetadata) (event.Action, bool) {
	if step.Type == referenceType || step.Type == stackType || strings.HasPrefix(step.Type, providerType) {
		return "", false
	}
	action, shown := actions[step.Op]
	return action, shown
}

// changesOf sums up the engine's counts. As in Pulumi's summary, a replacement
// counts once, and the stack and its providers count as resources.
func changesOf(counts map[apitype.OpType]int) event.Changes {
	return event.Changes{
		Create:  counts[apitype.OpCreate] + counts[apitype.OpImport],
		Update:  counts[apitype.OpUpdate],
		Replace: counts[apitype.OpReplace] + counts[apitype.OpImportReplacement],
		Delete:  counts[apitype.OpDelete],
		Same:    counts[apitype.OpSame],
	}
}
