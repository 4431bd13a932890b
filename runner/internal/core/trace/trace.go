// Package trace reports a run as OpenTelemetry spans: one for the run, one for
// each project that starts, and one for each operation on a resource and each
// hook. It uses events alone, and does nothing unless the usual OTEL_ variables ask
// for traces.
//
// Sending happens in the background and never delays a run. Spans that cannot be
// sent are dropped; Close reports why.
package trace

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"mara/runner/internal/core/event"
)

// library names the source of the spans.
const library = "mara/runner"

// queued bounds the spans that wait to be sent. A run that exceeds it has a
// collector that does not keep up.
const queued = 1 << 14

// Options are the inputs of Start.
type Options struct {
	// Getenv looks up an environment variable.
	Getenv func(name string) string
	// Version is that of the runner.
	Version string
}

// Tracer turns events into spans. It is an event.Sink.
type Tracer struct {
	provider *sdk.TracerProvider
	sender   *sender
	tracer   trace.Tracer
	parent   context.Context // of the span of the run, from TRACEPARENT
	run      *span
	steps    map[string]*step
	stop     sync.Once
}

// span is a span that has begun, with the context for its children.
type span struct {
	trace.Span
	ctx context.Context
}

// step is the span of a project with its open children.
type step struct {
	span
	resources map[event.Resource]trace.Span
	hooks     map[string]trace.Span
}

// Start begins to trace if the environment asks for it; otherwise it returns nil.
func Start(ctx context.Context, o Options) (*Tracer, error) {
	target, err := readTarget(o.Getenv)
	if err != nil || target == nil {
		return nil, err
	}
	exporter, err := target.exporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("sending traces: %w", err)
	}
	s := &sender{SpanExporter: exporter}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(s, sdk.WithMaxQueueSize(queued)),
		sdk.WithResource(describeSource(ctx, o)),
	)
	carrier := propagation.MapCarrier{"traceparent": o.Getenv("TRACEPARENT"), "tracestate": o.Getenv("TRACESTATE")}
	return &Tracer{
		provider: provider, sender: s, tracer: provider.Tracer(library, trace.WithInstrumentationVersion(o.Version)),
		parent: propagation.TraceContext{}.Extract(context.WithoutCancel(ctx), carrier), steps: map[string]*step{},
	}, nil
}

// describeSource describes the sender of the spans. OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES override it. It reveals nothing about the machine or its
// user.
func describeSource(ctx context.Context, o Options) *resource.Resource {
	own := resource.NewSchemaless(
		attribute.String("service.name", "mara-runner"), attribute.String("service.version", o.Version))
	asked, err := resource.New(ctx, resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return own
	}
	if merged, err := resource.Merge(own, asked); err == nil {
		return merged
	}
	return own
}

// Emit adds an event to the spans.
func (t *Tracer) Emit(e event.Event) {
	switch e.Type {
	case event.RunStarted:
		t.begin(e)
	case event.RunFinished:
		t.end(e)
	case event.RunStopping, event.RunWarning:
		t.note(e)
	default:
		if t.run != nil {
			t.step(e)
		}
	}
}

func (t *Tracer) begin(e event.Event) {
	name := string(e.Operation) + " " + e.Provider + "/" + e.Stack
	ctx, s := t.tracer.Start(t.parent, name, trace.WithTimestamp(e.Time), trace.WithAttributes(
		attribute.String("mara.run", e.Run),
		attribute.String("mara.operation", string(e.Operation)),
		attribute.String("mara.provider", e.Provider),
		attribute.String("mara.stack", e.Stack),
		attribute.Bool("mara.simulated", e.Simulated),
		attribute.Int("mara.projects", len(e.Projects)),
	))
	t.run = &span{Span: s, ctx: ctx}
}

// note adds an event to the span of the run.
func (t *Tracer) note(e event.Event) {
	if t.run == nil {
		return
	}
	t.run.AddEvent(string(e.Type), trace.WithTimestamp(e.Time), trace.WithAttributes(known(
		"mara.project", e.Project, "mara.reason", e.Reason, "message", e.Message)...))
}

// end ends the span of the run and the open spans in it.
func (t *Tracer) end(e event.Event) {
	if t.run == nil {
		return
	}
	for name, s := range t.steps {
		s.close(event.Event{Time: e.Time, Result: event.Interrupted})
		delete(t.steps, name)
	}
	finish(t.run, e)
	t.run = nil
}

// finish ends a span with a result.
func finish(s trace.Span, e event.Event) {
	s.SetAttributes(known("mara.result", string(e.Result), "mara.reason", e.Reason)...)
	if c := e.Changes; c != nil {
		s.SetAttributes(
			attribute.Int("mara.changes.create", c.Create), attribute.Int("mara.changes.update", c.Update),
			attribute.Int("mara.changes.replace", c.Replace), attribute.Int("mara.changes.delete", c.Delete),
			attribute.Int("mara.changes.same", c.Same), attribute.Int("mara.changes.outputs", c.Outputs),
		)
	}
	if e.Result != event.Succeeded && e.Result != event.Skipped {
		s.SetStatus(codes.Error, cmp.Or(e.Error, e.Reason, string(e.Result)))
	}
	s.End(trace.WithTimestamp(e.Time))
}

// Close sends the remaining spans until ctx ends, and returns the first reason why
// spans were not sent.
func (t *Tracer) Close(ctx context.Context) error {
	var err error
	t.stop.Do(func() { err = t.provider.Shutdown(ctx) })
	if err = cmp.Or(t.sender.failure(), err); err != nil {
		return fmt.Errorf("sending traces: %w", err)
	}
	return nil
}

// known returns attributes for pairs of name and value, without empty values.
func known(pairs ...string) []attribute.KeyValue {
	var out []attribute.KeyValue
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, attribute.String(pairs[i], pairs[i+1]))
		}
	}
	return out
}
