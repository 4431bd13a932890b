// Package eventtest holds recorded runs for the tests of what is made from
// events: renderers, reports and the journal.
package eventtest

import (
	"iter"
	"slices"
	"time"

	"mara/projects/model/needs"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
)

// Run is a recorded run.
type Run struct {
	Name   string
	Events []event.Event
}

// All returns every recorded run.
func All() []Run {
	return []Run{
		{"success", Success()},
		{"noop", NoOp()},
		{"failure", Failure()},
		{"hook-failure", HookFailure()},
		{"unreachable", Unreachable()},
		{"interrupted", Interrupted()},
		{"destroy", Destroy()},
		{"refresh", Refresh()},
		{"preview", Preview()},
		{"outputs", Outputs(operation.Preview)},
		{"outputs-up", Outputs(operation.Up)},
		{"simulated", Simulated()},
	}
}

// Stream yields events the way event.Decode does.
func Stream(events []event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Summary folds events.
func Summary(events []event.Event) *event.Summary {
	s := &event.Summary{}
	for _, e := range events {
		s.Apply(e)
	}
	return s
}

// Success returns an up of a new environment.
func Success() []event.Event { return successful(header(operation.Up, false)) }

// Simulated returns Success in a simulation.
func Simulated() []event.Event { return successful(header(operation.Up, true)) }

func successful(h event.Event) []event.Event {
	r := begin(h)
	r.start("kind-cluster")
	r.start("kic-image-build")
	r.wait(12*time.Second).progress("kind-cluster", event.Create, "kind:index:Cluster", "dev", event.Changes{Create: 2})
	r.hook("kind-cluster", "kubeconfig", 120*time.Millisecond, "")
	r.finish("kind-cluster", 12345, event.Changes{Create: 3})
	r.start("kind-registry")
	r.start("kubeconfig")
	r.wait(400*time.Millisecond).finish("kubeconfig", 400, event.Changes{Create: 1})
	r.start("secrets")
	r.log("kind-registry", event.Warning, "registry:2 is not pinned to a digest",
		event.Resource{Type: "kind:index:Registry", Name: "dev"})
	r.wait(time.Second).finish("kind-registry", 1400, event.Changes{Create: 2})
	r.wait(172*time.Second).finish("kic-image-build", 185_900, event.Changes{Create: 1, Replace: 1})
	r.finish("secrets", 172_900, event.Changes{Create: 4, Update: 1})
	r.start("kic-image-push")
	r.wait(3*time.Second).finish("kic-image-push", 3000, event.Changes{Create: 1, Delete: 1})
	r.add(event.Event{Type: event.RunWarning, Project: "kic-image-push",
		Message: `reads the stack of "kubeconfig", which the plan does not declare; add it to the project's reads`})
	return r.end(event.Succeeded)
}

// NoOp returns an up that changes nothing.
func NoOp() []event.Event {
	r := begin(header(operation.Up, false))
	for _, p := range kind() {
		r.start(p.Name)
		r.wait(40*time.Millisecond).finish(p.Name, 40, event.Changes{Same: 3})
	}
	return r.end(event.Succeeded)
}

// Preview returns a preview of a new environment.
func Preview() []event.Event {
	r := begin(header(operation.Preview, false))
	for _, p := range kind() {
		r.start(p.Name)
		r.wait(90*time.Millisecond).finish(p.Name, 90, event.Changes{Create: 3})
	}
	return r.end(event.Succeeded)
}

// Outputs returns an operation on an environment in which outputs change: with a resource,
// alone, and those of a project that is new.
func Outputs(op operation.Operation) []event.Event {
	r := begin(header(op, false))
	for i, p := range kind() {
		r.start(p.Name)
		changes := event.Changes{Same: 3}
		switch i {
		case 0:
			r.progress(p.Name, event.Update, "kind:index:Cluster", "dev", event.Changes{Update: 1})
			changes = event.Changes{Update: 1, Same: 2, Outputs: 3}
			r.outputs(p.Name,
				event.OutputChange{Name: "domain", Action: event.Update, Before: "shop.example.com", After: "<shop>.example.org"},
				event.OutputChange{Name: "id", Action: event.Update, Before: "c-1", After: event.Unknown},
				event.OutputChange{Name: "token", Action: event.Update, Before: event.Masked, After: event.Masked})
		case 1:
			changes.Outputs = 2
			r.outputs(p.Name, event.OutputChange{Name: "address", Action: event.Delete, Before: "localhost:5000"},
				event.OutputChange{Name: "addresses", Action: event.Create,
					After: []any{"localhost:5000", map[string]any{"port": 5001.0}}})
		case 2:
			changes = event.Changes{Create: 2, Outputs: 2}
			r.outputs(p.Name, event.OutputChange{Name: "context", Action: event.Create, After: "kind-dev"},
				event.OutputChange{Name: "kubeconfig", Action: event.Create, After: event.Masked})
		}
		r.wait(90*time.Millisecond).finish(p.Name, 90, changes)
	}
	return r.end(event.Succeeded)
}

// Failure returns an up in which the third project fails: two depend on it, and one more
// was not started.
func Failure() []event.Event {
	r := begin(header(operation.Up, false))
	r.start("kind-cluster")
	r.wait(12*time.Second).finish("kind-cluster", 12_000, event.Changes{Create: 3})
	r.start("kind-registry")
	r.start("kubeconfig")
	resource := event.Resource{Type: "kubernetes:core/v1:ConfigMap", Name: "context"}
	r.log("kubeconfig", event.Info, "reading the cluster", event.Resource{})
	r.progressFailed("kubeconfig", event.Create, resource, "the server is <down> & out")
	r.log("kubeconfig", event.Error, "the server is <down> & out:\n    dial tcp 127.0.0.1:6443: connect: connection "+
		"refused", resource)
	r.log("kubeconfig", event.Error, "the server is <down> & out:\n    dial tcp 127.0.0.1:6443: connect: connection "+
		"refused", resource)
	r.log("kubeconfig", event.Warning, "trying once more", event.Resource{})
	r.wait(2 * time.Second)
	r.add(event.Event{Type: event.StepFinished, Project: "kubeconfig", Title: "Kubeconfig", Result: event.Failed,
		Changes: &event.Changes{Create: 1}, DurationMS: 2000, Error: "1 resource failed"})
	r.add(event.Event{Type: event.RunStopping, Reason: "kubeconfig failed", Waiting: []string{"kind-registry"}})
	r.wait(9500*time.Millisecond).finish("kind-registry", 11_500, event.Changes{Create: 2})
	r.skip("secrets", "kubeconfig failed", "kubeconfig")
	r.skip("kic-image-build", "stopped after kubeconfig failed")
	r.skip("kic-image-push", "kubeconfig failed", "kubeconfig")
	return r.end(event.Failed)
}

// HookFailure returns an up whose hook fails: the error is not among the
// diagnostics.
func HookFailure() []event.Event {
	r := begin(header(operation.Up, false))
	r.start("kind-cluster")
	r.wait(time.Second).hook("kind-cluster", "kubeconfig", 10*time.Millisecond,
		"writing ~/.kube/config: permission denied")
	r.add(event.Event{Type: event.StepFinished, Project: "kind-cluster", Title: "Kind Cluster", Result: event.Failed,
		Changes: &event.Changes{Same: 3}, DurationMS: 1010, Error: "hook kubeconfig: writing ~/.kube/config: permission " +
			"denied"})
	for _, p := range kind()[1:] {
		if p.Name == "kic-image-build" {
			r.skip(p.Name, "stopped after kind-cluster failed")
			continue
		}
		r.skip(p.Name, "kind-cluster failed", "kind-cluster")
	}
	return r.end(event.Failed)
}

// Unreachable returns an up of an environment whose cluster is unreachable: parallel
// projects fail for the same reason, and one project for another.
func Unreachable() []event.Event {
	r := begin(header(operation.Up, false))
	for _, name := range []string{"kind-cluster", "kind-registry", "kubeconfig"} {
		r.start(name)
		r.wait(time.Second).finish(name, 1000, event.Changes{Same: 3})
	}
	const reason = `the Kubernetes cluster is unreachable: dial tcp 127.0.0.1:6443: connect: connection refused`
	for _, failed := range [][2]string{{"secrets", reason}, {"kic-image-build", "docker build: exit status 1"},
		{"kic-image-push", reason}} {
		r.start(failed[0])
		e := event.Event{Type: event.StepFinished, Project: failed[0], Title: title(failed[0]), Result: event.Failed,
			Changes: &event.Changes{}, DurationMS: 2000, Error: failed[1]}
		if failed[1] == reason {
			e.Hint = "the cluster does not answer: check the network, a VPN and that it runs"
		}
		r.wait(2 * time.Second).add(e)
	}
	return r.end(event.Failed)
}

// Interrupted returns an up that is interrupted twice.
func Interrupted() []event.Event {
	r := begin(header(operation.Up, false))
	r.start("kind-cluster")
	r.wait(12*time.Second).finish("kind-cluster", 12_000, event.Changes{Create: 3})
	r.start("kind-registry")
	r.start("kubeconfig")
	waiting := []string{"kind-registry", "kubeconfig"}
	r.wait(time.Second).add(event.Event{Type: event.RunStopping, Reason: event.ReasonInterrupted, Waiting: waiting})
	r.wait(time.Second).finish("kubeconfig", 2000, event.Changes{Create: 1})
	r.add(event.Event{Type: event.RunStopping, Reason: event.ReasonCancelled, Waiting: waiting[:1]})
	r.log("kind-registry", event.Error, "update cancelled", event.Resource{})
	r.wait(time.Second).add(event.Event{Type: event.StepFinished, Project: "kind-registry", Title: "Local Registry",
		Result: event.Cancelled,
		Reason: event.ReasonInterrupted, Changes: &event.Changes{Create: 1}, DurationMS: 3000, Error: "exit status 1"})
	for _, name := range []string{"secrets", "kic-image-build", "kic-image-push"} {
		r.add(event.Event{Type: event.StepFinished, Project: name, Title: title(name), Result: event.Cancelled,
			Reason: event.ReasonInterrupted, Changes: &event.Changes{}})
	}
	return r.end(event.Interrupted)
}

// Destroy returns a destroy of an environment.
func Destroy() []event.Event {
	h := header(operation.Destroy, false)
	slices.Reverse(h.Projects)
	r := begin(h)
	for _, p := range h.Projects {
		r.start(p.Name)
		if p.Name == "kind-cluster" {
			r.hook(p.Name, "kubeconfig", 5*time.Millisecond, "")
		}
		r.wait(700*time.Millisecond).finish(p.Name, 700, event.Changes{Delete: 3})
	}
	return r.end(event.Succeeded)
}

// Denied returns a preview in which every project succeeds, and guards forbid the up.
func Denied() []event.Event {
	r := begin(header(operation.Preview, false))
	for _, p := range kind()[:2] {
		r.start(p.Name)
		r.wait(time.Second).finish(p.Name, 1000, event.Changes{Create: 3})
	}
	for _, p := range kind()[2:] {
		r.skip(p.Name, "nothing to do")
	}
	registry := event.Resource{Type: "kind:index:Registry", Name: "registry"}
	for _, f := range []event.Finding{
		{Rule: "open-ranges", Level: event.LevelDeny, Message: "it is open to <the world> | all", Project: "kind-registry",
			Resource: registry,
			URN:      "urn:pulumi:dev::kind-registry::kind:index:Registry::registry",
			File:     "infra/registry/Main.yaml", Line: 12},
		{Rule: "labels", Level: event.LevelWarn, Message: "it has no owner", Project: "kind-cluster",
			File: "config/pulumi/Pulumi.dev.yaml", Line: 1},
		{Rule: "limits", Level: event.LevelDeny, Message: "it has no limit", Project: "kind-cluster",
			Exception: "known until 2026-12-01"},
		{Rule: string(refusal.MaxMonthly), Level: event.LevelDeny, Message: "--max-monthly 10: it costs at least 12 USD a month"},
	} {
		r.add(event.NewFinding(f, "policy "+f.Rule+": "+f.Message))
	}
	r.add(event.Event{Type: event.RunWarning, Message: "another warning"})
	return r.end(event.Failed)
}

// Refresh returns a refresh of a partly deployed environment.
func Refresh() []event.Event {
	r := begin(header(operation.Refresh, false))
	for i, p := range kind() {
		if i < 3 {
			r.start(p.Name)
			r.wait(time.Second).finish(p.Name, 1000, event.Changes{Same: 2, Update: i % 2})
			continue
		}
		r.start(p.Name)
		r.skip(p.Name, "never deployed")
	}
	return r.end(event.Succeeded)
}

// kind returns the first projects of kind's plan.
func kind() []event.Project {
	return []event.Project{
		{Name: "kind-cluster", Title: "Kind Cluster"},
		{Name: "kind-registry", Title: "Local Registry", Needs: needs.Needs{Reads: []string{"kind-cluster"}}},
		{Name: "kubeconfig", Title: "Kubeconfig", Needs: needs.Needs{Reads: []string{"kind-cluster"}}},
		{Name: "secrets", Title: "Secrets", Needs: needs.Needs{Reads: []string{"kubeconfig"}}},
		{Name: "kic-image-build", Title: "KIC Image Build"},
		{Name: "kic-image-push", Title: "KIC Image Push", Needs: needs.Needs{Reads: []string{"kic-image-build",
			"kind-registry"}, After: []string{"secrets"}}},
	}
}

func title(name string) string {
	for _, p := range kind() {
		if p.Name == name {
			return p.Title
		}
	}
	return name
}

func header(op operation.Operation, simulated bool) event.Event {
	return event.Event{Type: event.RunStarted, Format: event.Format, Operation: op, Provider: "kind", Stack: "dev",
		Simulated: simulated, Parallel: 4, Projects: kind()}
}

// recorder records events with a clock that moves only by wait.
type recorder struct {
	events  []event.Event
	began   time.Time
	now     time.Time
	results event.Results
	changes event.Changes
}

func begin(header event.Event) *recorder {
	at := time.Date(2026, 11, 20, 19, 30, 0, 0, time.UTC)
	r := &recorder{began: at, now: at}
	r.add(header)
	return r
}

func (r *recorder) add(e event.Event) {
	e.Time, e.Run = r.now, "20261120-193000-000abc"
	if e.Type == event.StepFinished {
		r.results, r.changes = r.results.Count(e.Result), r.changes.Plus(*e.Changes)
	}
	r.events = append(r.events, e)
}

func (r *recorder) wait(d time.Duration) *recorder {
	r.now = r.now.Add(d)
	return r
}

func (r *recorder) start(project string) {
	r.add(event.Event{Type: event.StepStarted, Project: project, Title: title(project)})
}

func (r *recorder) finish(project string, ms int64, c event.Changes) {
	r.add(event.Event{Type: event.StepFinished, Project: project, Title: title(project), Result: event.Succeeded,
		DurationMS: ms, Changes: &c})
}

func (r *recorder) skip(project, reason string, causes ...string) {
	r.add(event.Event{Type: event.StepFinished, Project: project, Title: title(project), Result: event.Skipped,
		Reason: reason, Causes: causes, Changes: &event.Changes{}})
}

func (r *recorder) log(project string, s event.Severity, message string, resource event.Resource) {
	r.add(event.Event{Type: event.StepLog, Project: project, Title: title(project), Severity: s, Message: message,
		Resource: resource})
}

func (r *recorder) progress(project string, a event.Action, typ, name string, counts event.Changes) {
	r.add(event.Event{Type: event.StepProgress, Project: project, Title: title(project), Action: a,
		Status:   event.ActionDone,
		Resource: event.Resource{Type: typ, Name: name}, Counts: &counts})
}

func (r *recorder) outputs(project string, changes ...event.OutputChange) {
	r.add(event.Event{Type: event.StepOutputs, Project: project, Title: title(project), Outputs: changes})
}

func (r *recorder) progressFailed(project string, a event.Action, resource event.Resource, message string) {
	r.add(event.Event{Type: event.StepProgress, Project: project, Title: title(project), Action: a,
		Status:   event.ActionFailed,
		Resource: resource, Counts: &event.Changes{}, Message: message})
}

func (r *recorder) hook(project, hook string, d time.Duration, failure string) {
	r.add(event.Event{Type: event.HookStarted, Project: project, Title: title(project), Hook: hook})
	e := event.Event{Type: event.HookFinished, Project: project, Title: title(project), Hook: hook,
		Result:     event.Succeeded,
		DurationMS: d.Milliseconds(), Error: failure}
	if failure != "" {
		e.Result = event.Failed
	}
	r.wait(d).add(e)
}

func (r *recorder) end(result event.Result) []event.Event {
	r.add(event.Event{Type: event.RunFinished, Result: result, DurationMS: r.now.Sub(r.began).Milliseconds(),
		Results: &r.results, Changes: &r.changes})
	return r.events
}

// Types lists the types of events.
func Types() []event.Type {
	return []event.Type{
		event.RunStarted, event.RunStopping, event.RunWarning, event.RunCosts, event.RunPlan,
		event.StepStarted, event.StepProgress, event.StepOutputs, event.StepLog, event.StepRetrying,
		event.HookStarted, event.HookFinished,
		event.StepFinished, event.RunFinished,
	}
}
