package main

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/opentracing/opentracing-go"

	"mara/projects/monitor"
	"mara/runner/internal/core/pulumicli/wire"
)

// The calls by which a program queries its providers.
const (
	invokeMethod = "/pulumirpc.ResourceMonitor/Invoke"
	readMethod   = "/pulumirpc.ResourceMonitor/ReadResource"
	callMethod   = "/pulumirpc.ResourceMonitor/Call"
)

// decoratorTag is the tag by which Pulumi says what a call is about: the token
// of a function, or the type of a resource.
const decoratorTag = "pulumi-decorator"

// questions records which data sources programs call, and which resources they read.
// Pulumi's events do not include the calls, but its tracer sees every one.
type questions struct {
	opentracing.NoopTracer
	mu    sync.Mutex // guards asked
	asked map[string]bool
}

// watchQuestions starts to note questions. It has to come before the first
// command, because Pulumi takes the tracer when it starts a server.
func watchQuestions() *questions {
	q := &questions{asked: map[string]bool{}}
	opentracing.SetGlobalTracer(q)
	return q
}

// StartSpan implements opentracing.Tracer.
func (q *questions) StartSpan(name string, options ...opentracing.StartSpanOption) opentracing.Span {
	span := q.NoopTracer.StartSpan(name, options...)
	switch name {
	case callMethod:
		q.note("call")
	case invokeMethod, readMethod:
		return question{span, q}
	}
	return span
}

// note keeps one question.
func (q *questions) note(what string) {
	if what == monitor.StackReference {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked[what] = true
}

// reset clears the record for the next command.
func (q *questions) reset() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.asked)
}

// tell writes what was asked to the file that the runner has named, if it has.
// Without the file the runner takes it that anything may have been asked.
func (q *questions) tell() {
	file := os.Getenv(wire.QuestionsVariable)
	if file == "" {
		return
	}
	q.mu.Lock()
	asked := slices.AppendSeq([]string{}, maps.Keys(q.asked)) // not nil: it is known
	q.mu.Unlock()
	slices.Sort(asked)
	if content, err := json.Marshal(asked); err == nil {
		_ = os.WriteFile(file, content, 0o600)
	}
}

// question is the span of a call that asks something.
type question struct {
	opentracing.Span
	questions *questions
}

// SetTag implements opentracing.Span: Pulumi says what was asked when the call
// has ended.
func (q question) SetTag(key string, value any) opentracing.Span {
	if what, ok := value.(string); ok && key == decoratorTag {
		q.questions.note(what)
	}
	return q
}
