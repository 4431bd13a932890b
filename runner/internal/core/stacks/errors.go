package stacks

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"mara/runner/internal/core/pulumicli"
	"mara/runner/internal/machine/failure"
)

// failure returns the cause of a failed operation, in one line, with advice.
func (w work) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	diagnostics := slices.Concat(w.engine.errors, w.engine.unreachable.messages)
	texts := strings.Join(diagnostics, "\n")
	if explained := explanation(texts); explained != nil {
		return withAdvice(explained, texts)
	}
	return withAdvice(w.ifOutputMissing(ifTransient(w.summarise(err), diagnostics), texts), texts)
}

// summarise says in one line why an operation has failed.
func (w work) summarise(err error) error {
	engine := w.engine
	texts := strings.Join(engine.errors, "\n")
	switch {
	case texts == "" && len(engine.unreachable.messages) > 0:
		return errors.New(engine.unreachable.String())
	case len(engine.failed) == 1:
		return fmt.Errorf("%s failed: %s", engine.failed[0], cause(texts))
	case len(engine.failed) > 1:
		return fmt.Errorf("%d resources failed (%s): %s", len(engine.failed), strings.Join(engine.failed, ", "), cause(texts))
	case texts != "":
		return errors.New(cause(texts))
	}
	return w.explain(err, "")
}

// explain makes a message of what a failed command has written to stderr. The
// text of an Automation API error holds all output; only Pulumi's own error lines
// are taken from it.
func (c copies) explain(err error, stderr string) error {
	if stderr == "" {
		_, stderr, _ = strings.Cut(err.Error(), "\nstderr: ")
	}
	if explained := explanation(stderr); explained != nil {
		return explained
	}
	if lines := errorLines(stderr); lines != "" {
		return errors.New(c.options.Masker.Mask(lines))
	}
	if exit, ok := errors.AsType[*pulumicli.ExitError](err); ok {
		return fmt.Errorf("pulumi ended with %w and no message", exit)
	}
	message, _, _ := strings.Cut(err.Error(), "\ncode: ")
	unexplained := errors.New(c.options.Masker.Mask(message))
	if strings.Contains(message, syscall.EMFILE.Error()) { // the engine did not start
		return failure.Advise(unexplained, failure.FewFiles)
	}
	return unexplained
}

// cause returns the first meaningful line. A line that ends with a colon is joined
// with the next.
func cause(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		words = append(words, line)
		if !strings.HasSuffix(line, ":") {
			break
		}
	}
	if len(words) == 0 {
		return "no message"
	}
	return strings.Join(words, " ")
}

// listed is how Pulumi lists several errors, in its two ways.
var listed = regexp.MustCompile(`^(?:\*|\d+\)) (.*)`)

// retried is what Pulumi says of a download before it tries again. What it says
// next is on the same line.
var retried = regexp.MustCompile(`^Will retry in \S+ \[\d+/\d+\]`)

// errorLines returns the messages after "error:" at the start of a line.
func errorLines(stderr string) string {
	var messages []string
	begun := false // by a line with nothing behind it
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if begun && line != "" {
			messages, begun = append(messages, line), false
			continue
		}
		if begun = line == "error:"; begun {
			continue
		}
		if message, ok := strings.CutPrefix(retried.ReplaceAllString(line, ""), "error: "); ok {
			messages = append(messages, message)
			// of several: "2 errors occurred:"
		} else if one := listed.FindStringSubmatch(line); one != nil && len(messages) > 0 {
			last := len(messages) - 1
			if !strings.HasSuffix(messages[last], ":") {
				messages[last] += ","
			}
			messages[last] += " " + one[1]
		}
	}
	return strings.Join(messages, "; ")
}

// NotReadyError says that an up has waited in vain for Pods to become ready.
type NotReadyError struct{ Cause error }

func (e *NotReadyError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *NotReadyError) Unwrap() error { return e.Cause }

// StuckError says that a destroy has waited in vain for Namespaces to go.
type StuckError struct {
	Cause      error
	Namespaces []string
}

func (e *StuckError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *StuckError) Unwrap() error { return e.Cause }

const namespaceType = "kubernetes:core/v1:Namespace"

var (
	// awaited are the types of resources for whose Pods the Kubernetes provider
	// waits.
	awaited = regexp.MustCompile(`^kubernetes:(helm\.sh/v[34]:Release|apps/v1:(Deployment|StatefulSet|DaemonSet)|batch/v1:Job|core/v1:Pod)$`)
	// tooLate is how it says that it has waited for too long, or as long as the runner lets it.
	tooLate = regexp.MustCompile(`(?i)timed out|timeout|deadline exceeded|context canceled`)
)

// isNotReady reports whether an error of a resource is of this kind.
func isNotReady(resource, message string) bool {
	return awaited.MatchString(resource) && tooLate.MatchString(message)
}
