package trace_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/trace"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/testing/uitest"
)

// receiver is an OTLP receiver that keeps what comes.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []*otlp.Span
	services []string
	headers  http.Header
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if err := r.receive(request); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) receive(request *http.Request) error {
	if request.URL.Path != "/v1/traces" {
		return errors.New("a request to " + request.URL.Path)
	}
	body := request.Body
	if request.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = unzipped
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var message collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(text, &message); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = request.Header
	for _, rs := range message.ResourceSpans {
		for _, a := range rs.Resource.Attributes {
			if a.Key == "service.name" {
				r.services = append(r.services, a.Value.GetStringValue())
			}
		}
		for _, ss := range rs.ScopeSpans {
			r.spans = append(r.spans, ss.Spans...)
		}
	}
	return nil
}

// find returns the only span of a name.
func (r *receiver) find(t *testing.T, name string) *otlp.Span {
	t.Helper()
	var found []*otlp.Span
	for _, s := range r.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("there are %d spans %q", len(found), name)
	}
	return found[0]
}

func getenv(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// send traces events and returns what the receiver got.
func send(t *testing.T, events []event.Event, env ...string) *receiver {
	t.Helper()
	r := newReceiver(t)
	tracer, err := trace.Start(t.Context(), trace.Options{Version: "1.2.3", Getenv: getenv(append(env, "OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)...)})
	if err != nil || tracer == nil {
		t.Fatal(tracer, err)
	}
	for _, e := range events {
		tracer.Emit(e)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return r
}

func TestSpans(t *testing.T) {
	t.Parallel()
	events := eventtest.Failure()
	r := send(t, events)
	run := r.find(t, "up kind/dev")
	if run.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR || len(run.ParentSpanId) > 0 {
		t.Errorf("the run: %v", run)
	}
	for _, e := range events {
		if e.Type != event.StepFinished {
			continue
		}
		if e.Result == event.Skipped {
			continue // it never started
		}
		s := r.find(t, e.Project)
		if string(s.ParentSpanId) != string(run.SpanId) || s.EndTimeUnixNano != uint64(e.Time.UnixNano()) {
			t.Errorf("%s: %v", e.Project, s)
		}
		if failed := s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR; failed != (e.Result == event.Failed) {
			t.Errorf("%s %s: %v", e.Project, e.Result, s.Status)
		}
	}
	resource := r.find(t, "create kubernetes:core/v1:ConfigMap")
	if parent := r.find(t, "kubeconfig"); string(resource.ParentSpanId) != string(parent.SpanId) || resource.Status.GetMessage() == "" {
		t.Errorf("the resource: %v", resource)
	}
	if len(r.services) == 0 || r.services[0] != "mara-runner" {
		t.Errorf("services %v", r.services)
	}
}

// TestEveryOperationHasASpan compares a run with all its spans.
func TestEveryOperationHasASpan(t *testing.T) {
	t.Parallel()
	events := uitest.Play(uitest.AWS())
	want := 1
	for _, e := range events {
		if e.Type == event.StepStarted || e.Type == event.HookStarted || e.Type == event.StepProgress && e.Status == event.ActionStarted {
			want++
		}
	}
	if got := send(t, events); len(got.spans) != want || want < 30 {
		t.Errorf("got %d spans, want %d", len(got.spans), want)
	}
}

// TestCutOff ends a stream in the middle; every span that began is sent.
func TestCutOff(t *testing.T) {
	t.Parallel()
	events := uitest.Play(uitest.AWS())
	middle := append(events[:len(events)/2:len(events)/2], event.Event{Type: event.RunFinished, Time: events[len(events)/2].Time, Result: event.Interrupted})
	want := 1
	for _, e := range middle {
		if e.Type == event.StepStarted || e.Type == event.HookStarted || e.Type == event.StepProgress && e.Status == event.ActionStarted {
			want++
		}
	}
	if got := send(t, middle); len(got.spans) != want {
		t.Errorf("got %d spans, want %d", len(got.spans), want)
	}
}

func TestParentAndHeaders(t *testing.T) {
	t.Parallel()
	r := send(t, eventtest.Success(), "TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "OTEL_EXPORTER_OTLP_HEADERS", "x-token=a%20b, other = c")
	run := r.find(t, "up kind/dev")
	if len(run.ParentSpanId) != 8 || run.ParentSpanId[0] != 0xb7 || run.TraceId[0] != 0x0a {
		t.Errorf("got %v", run)
	}
	if r.headers.Get("X-Token") != "a b" || r.headers.Get("Other") != "c" {
		t.Errorf("got %v", r.headers)
	}
}

func TestOffUnlessAsked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		env  []string
		on   bool
		err  string
	}{
		{"nothing", nil, false, ""},
		{"an endpoint", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:1"}, true, ""},
		{"an endpoint for traces", []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:1/x"}, true, ""},
		{"an exporter", []string{"OTEL_TRACES_EXPORTER", "otlp"}, true, ""},
		{"no exporter", []string{"OTEL_TRACES_EXPORTER", "none", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:1"}, false, ""},
		{"disabled", []string{"OTEL_SDK_DISABLED", "true", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:1"}, false, ""},
		{"another exporter", []string{"OTEL_TRACES_EXPORTER", "zipkin"}, false, `OTEL_TRACES_EXPORTER is "zipkin"`},
		{"another protocol", []string{"OTEL_TRACES_EXPORTER", "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, false, `OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"`},
		{"no address", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"}, false, "no http or https address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tracer, err := trace.Start(t.Context(), trace.Options{Getenv: getenv(tt.env...)})
			if (tracer != nil) != tt.on || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v, %v", tracer, err)
			}
			if tracer != nil {
				if err := tracer.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestSilentReceiver: the context of Close bounds the wait for a receiver that never
// answers.
func TestSilentReceiver(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-held }))
	defer server.Close()
	defer close(held)
	tracer, err := trace.Start(t.Context(), trace.Options{Getenv: getenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range eventtest.Success() {
		tracer.Emit(e)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := tracer.Close(ctx); err == nil || !strings.Contains(err.Error(), "sending traces: ") {
		t.Errorf("got %v", err)
	}
}
