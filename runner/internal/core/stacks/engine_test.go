package stacks

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
)

func metadata(op apitype.OpType, kind, name string) apitype.StepEventMetadata {
	return apitype.StepEventMetadata{Op: op, Type: kind, URN: "urn:pulumi:dev::vpc::" + kind + "::" + name}
}

func pre(op apitype.OpType, kind, name string) apitype.EngineEvent {
	return apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: metadata(op, kind, name)}}
}

func diagnostic(severity, message, urn string) apitype.EngineEvent {
	return apitype.EngineEvent{DiagnosticEvent: &apitype.DiagnosticEvent{Severity: severity, Message: message, URN: urn}}
}

// TestEngineEvents feeds the engine's events through the real stream.
func TestEngineEvents(t *testing.T) {
	t.Parallel()
	const bucket, urn = "aws:s3/bucket:Bucket", "urn:pulumi:dev::vpc::aws:s3/bucket:Bucket::logs"
	const stackURN = "urn:pulumi:dev::vpc::pulumi:pulumi:Stack::vpc-dev"
	out := func(op apitype.OpType) apitype.EngineEvent {
		return apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: metadata(op, bucket, "logs")}}
	}
	for _, test := range []struct {
		name   string
		events []apitype.EngineEvent
		want   []string
	}{
		{"a creation", []apitype.EngineEvent{pre(apitype.OpCreate, bucket, "logs"), out(apitype.OpCreate)},
			[]string{"step.progress " + bucket + " logs create started", "step.progress " + bucket + " logs create done"}},
		{"an update", []apitype.EngineEvent{pre(apitype.OpUpdate, bucket, "logs")}, []string{"step.progress " + bucket + " logs update started"}},
		{"a deletion", []apitype.EngineEvent{pre(apitype.OpDelete, bucket, "logs")}, []string{"step.progress " + bucket + " logs delete started"}},
		{"an import", []apitype.EngineEvent{pre(apitype.OpImport, bucket, "logs")}, []string{"step.progress " + bucket + " logs import started"}},
		{"a refresh", []apitype.EngineEvent{pre(apitype.OpRefresh, bucket, "logs")}, []string{"step.progress " + bucket + " logs refresh started"}},
		{"a read", []apitype.EngineEvent{pre(apitype.OpRead, bucket, "logs")}, []string{"step.progress " + bucket + " logs read started"}},
		{"a replacement is reported once", []apitype.EngineEvent{
			pre(apitype.OpCreateReplacement, bucket, "logs"), pre(apitype.OpReplace, bucket, "logs"), pre(apitype.OpDeleteReplaced, bucket, "logs"),
		}, []string{"step.progress " + bucket + " logs replace started"}},
		{"what stays the same is only counted", []apitype.EngineEvent{pre(apitype.OpSame, bucket, "logs"), out(apitype.OpSame)}, nil},
		{"what a refresh finds the same has ended", []apitype.EngineEvent{pre(apitype.OpRefresh, bucket, "logs"), out(apitype.OpSame)},
			[]string{"step.progress " + bucket + " logs refresh started", "step.progress " + bucket + " logs same done"}},
		{"stack, providers and references are not shown", []apitype.EngineEvent{
			pre(apitype.OpCreate, stackType, "vpc-dev"), pre(apitype.OpCreate, "pulumi:providers:aws", "default"), pre(apitype.OpRead, referenceType, "x"),
		}, nil},
		{"a failure", []apitype.EngineEvent{{ResOpFailedEvent: &apitype.ResOpFailedEvent{Metadata: metadata(apitype.OpCreate, bucket, "logs")}}},
			[]string{"step.progress " + bucket + " logs create failed"}},
		{"diagnostics by severity", []apitype.EngineEvent{
			diagnostic("info", "one", ""), diagnostic("info#err", "two", ""), diagnostic("warning", "three", ""),
			diagnostic("error", "five", urn), diagnostic("unheard of", "six", ""),
		}, []string{
			"step.log info one", "step.log info two", "step.log warning three",
			"step.log " + bucket + " logs error five", "step.log info six",
		}},
		{"debug messages are dropped, for they have secrets in the clear", []apitype.EngineEvent{
			diagnostic("debug", "ReadResource response: key, value, hunter2", urn),
		}, nil},
		{"colours and severities are taken off", []apitype.EngineEvent{
			diagnostic("error", "<{%reset%}>error: <{%fg 1%}>bad<{%reset%}> luck\n", ""),
			diagnostic("warning", "warning: careful", ""),
		}, []string{"step.log error bad luck", "step.log warning careful"}},
		{"the frame of a Go program", []apitype.EngineEvent{diagnostic("error",
			"an unhandled error occurred: program failed:\n2 errors occurred:\n\t* first\n\t* second\n\n", stackURN)},
			[]string{"step.log " + stackType + " error first second"}},
		{"ephemeral, empty and echoing ones are dropped", []apitype.EngineEvent{
			{DiagnosticEvent: &apitype.DiagnosticEvent{Severity: "info", Message: "spinning", Ephemeral: true}},
			diagnostic("info", "  \n", ""), diagnostic("error", "error: update failed", stackURN), diagnostic("error", "destroy failed", ""),
			diagnostic("error", "update canceled", ""),
			diagnostic("warning", "warning: using pulumi-language-go from $PATH at /usr/bin/pulumi-language-go expected /opt/mara/pulumi-language-go", ""),
		}, nil},
		{"a provider whose inputs are not known is no warning of each of its resources", []apitype.EngineEvent{
			diagnostic("warning", "warning: The provider for this resource has inputs that are not known during preview.\n"+
				"This preview may not correctly represent the changes that will be applied during an update.", urn),
		}, nil},
		{"what sounds like an echo but is of a resource stays", []apitype.EngineEvent{diagnostic("error", "update failed", urn)},
			[]string{"step.log " + bucket + " logs error update failed"}},
		{"events of other kinds", []apitype.EngineEvent{{CancelEvent: &apitype.CancelEvent{}}, {StdoutEvent: &apitype.StdoutEngineEvent{Message: "x"}}, {}}, nil},
		{"a URN that is none", []apitype.EngineEvent{diagnostic("info", "x", "not a URN")}, []string{"step.log info x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := open(t, []string{"vpc"}, call{args: "up", events: append(test.events, summed(nil))})
			var got record
			if _, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, got.emit); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.lines); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNotReadyIsAChange: a resource that was changed and did not become ready is counted, with the engine's summary and, if it
// was killed, without; one that the cloud has refused is not.
func TestNotReadyIsAChange(t *testing.T) {
	t.Parallel()
	failed := func(op apitype.OpType, status int, awaited bool) apitype.EngineEvent {
		return apitype.EngineEvent{ResOpFailedEvent: &apitype.ResOpFailedEvent{
			Metadata: metadata(op, "kubernetes:apps/v1:Deployment", "workload"), Status: status, Awaited: awaited,
		}}
	}
	for name, test := range map[string]struct {
		failed apitype.EngineEvent
		want   string
	}{
		"refused":           {failed(apitype.OpUpdate, 2, false), "no changes"},
		"updated":           {failed(apitype.OpUpdate, 1, false), "~1 (1 not ready)"},
		"awaited in vain":   {failed(apitype.OpCreate, 2, true), "+1 (1 not ready)"},
		"made anew":         {failed(apitype.OpCreateReplacement, 1, false), "±1 (1 not ready)"},
		"not found by read": {failed(apitype.OpRefresh, 1, false), "no changes"},
	} {
		for _, ends := range []bool{true, false} {
			e := newEngineEvents(func(event.Event) {}, make(chan struct{}))
			e.take(events.EngineEvent{EngineEvent: test.failed})
			if ends {
				e.take(events.EngineEvent{EngineEvent: summed(nil)})
			}
			e.wait()
			if got := e.result().String(); got != test.want {
				t.Errorf("%s, with a summary %t: %s, want %s", name, ends, got, test.want)
			}
		}
	}
}

// TestProgressCounts: every progress event tells what is done so far, counted as
// in the engine's own summary, so that at the end both are the same.
func TestProgressCounts(t *testing.T) {
	t.Parallel()
	var counts []event.Changes
	e := newEngineEvents(func(ev event.Event) {
		if ev.Counts != nil {
			counts = append(counts, *ev.Counts)
		}
	}, make(chan struct{}))
	for _, m := range []apitype.StepEventMetadata{
		metadata(apitype.OpSame, "a:b:C", "1"), metadata(apitype.OpCreate, "a:b:C", "2"), metadata(apitype.OpRead, referenceType, "x"),
		metadata(apitype.OpCreate, "pulumi:providers:a", "default"), metadata(apitype.OpCreate, stackType, "vpc-dev"),
		metadata(apitype.OpImport, "a:b:C", "3"), metadata(apitype.OpDelete, "a:b:C", "4"),
	} {
		e.ended(m)
	}
	e.wait()
	want := []event.Changes{{Create: 1, Same: 1}, {Create: 4, Same: 1}, {Create: 4, Delete: 1, Same: 1}}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
}

// TestWhatCountsAsDrift refreshes a resource that a program only reads, one that
// its provider calls unhealthy, and one that has changed.
func TestWhatCountsAsDrift(t *testing.T) {
	t.Parallel()
	const service = "kubernetes:core/v1:Service"
	finished := func(op apitype.OpType, name string, external bool, unhealthy ...string) apitype.EngineEvent {
		m := metadata(op, service, name)
		m.Old = &apitype.StepEventStateMetadata{External: external}
		m.New = &apitype.StepEventStateMetadata{External: external, InitErrors: unhealthy}
		return apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: m}}
	}
	e := open(t, []string{"vpc"}, call{args: "refresh", events: []apitype.EngineEvent{
		pre(apitype.OpRefresh, service, "read"), finished(apitype.OpUpdate, "read", true),
		pre(apitype.OpRefresh, service, "stopped"), finished(apitype.OpSame, "stopped", false, "stopped nodes: one"),
		pre(apitype.OpRefresh, service, "changed"), finished(apitype.OpUpdate, "changed", false),
		pre(apitype.OpRefresh, service, "same"), finished(apitype.OpSame, "same", false),
		summed(map[apitype.OpType]int{apitype.OpUpdate: 2, apitype.OpSame: 2}),
	}})
	var got record
	outcome, err := e.Operate(t.Context(), Task{Operation: operation.Drift, Step: step("vpc")}, got.emit)
	if diff := cmp.Diff(event.Changes{Update: 2, Same: 2}, outcome.Changes); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, line := range []string{"read same done", "stopped update done", "changed update done", "same same done"} {
		if !slices.Contains(got.lines, "step.progress "+service+" "+line) {
			t.Errorf("%q is missing among %q", line, got.lines)
		}
	}
}

func TestChangesOf(t *testing.T) {
	t.Parallel()
	got := changesOf(map[apitype.OpType]int{
		apitype.OpCreate: 1, apitype.OpImport: 1, apitype.OpUpdate: 2, apitype.OpReplace: 3, apitype.OpImportReplacement: 1,
		apitype.OpCreateReplacement: 3, apitype.OpDeleteReplaced: 3, apitype.OpDelete: 5, apitype.OpSame: 6, apitype.OpRead: 7,
	})
	if diff := cmp.Diff(event.Changes{Create: 2, Update: 2, Replace: 4, Delete: 5, Same: 6}, got); diff != "" {
		t.Error(diff)
	}
}
