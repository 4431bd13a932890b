package stacks

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"mara/runner/internal/pulumicli"
)

// LockedError says that another update holds a stack's lock.
type LockedError struct{ Detail string }

func (e *LockedError) Error() string {
	return "the stack is locked by another update: " + e.Detail
}

// ErrPassphrase says that the passphrase does not open what was encrypted.
var ErrPassphrase = errors.New("the passphrase is wrong: it does not open this environment's secrets; set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the one they were encrypted with")

// ErrLogin says that the backend does not know who asks.
var ErrLogin = errors.New("nobody is logged in to the backend: set PULUMI_ACCESS_TOKEN, log in with `pulumi login`, or name another place for state with PULUMI_BACKEND_URL")

// known maps texts of Pulumi's errors to what they mean here. Reading texts is
// the only way: the commands answer with nothing else.
var known = []struct {
	pattern *regexp.Regexp
	explain func(match []string) error
}{
	{regexp.MustCompile(`incorrect passphrase`),
		func([]string) error { return ErrPassphrase }},
	{regexp.MustCompile(`(?s)the stack is currently locked by \d+ lock\(s\)\.[^\n]*\n\s*(\S[^\n]*)`),
		func(match []string) error { return &LockedError{Detail: strings.TrimSpace(match[1])} }},
	{regexp.MustCompile(`Another update is currently in progress`),
		func([]string) error { return &LockedError{Detail: "an update is in progress"} }},
	{regexp.MustCompile(`passphrase must be set with PULUMI_CONFIG_PASSPHRASE`),
		func([]string) error {
			return errors.New("no passphrase is set: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE")
		}},
	{regexp.MustCompile(`PULUMI_ACCESS_TOKEN must be set for login`),
		func([]string) error { return ErrLogin }},
	{regexp.MustCompile(`newer than what this version of the Pulumi CLI understands|not supported by this version of the Pulumi CLI|deployment version is too new|deployment needs support for the following features`),
		func([]string) error {
			return errors.New("the state was written by a newer Pulumi; use an installed one of that version with --pulumi PATH")
		}},
	{regexp.MustCompile(`no resource plugin '([^']+)' found|Could not automatically download and install resource plugin '([^']+)'`),
		func(match []string) error {
			return fmt.Errorf("the plugin %s is not installed and could not be downloaded", match[1]+match[2])
		}},
}

// failure is the cause of a failed operation, in one line.
func (e *Environment) failure(ctx context.Context, err error, engine *engineEvents) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	texts := strings.Join(engine.errors, "\n")
	if explained := classify(texts); explained != nil {
		return explained
	}
	return ifTransient(e.summarise(err, engine, texts), engine.errors)
}

// summarise says in one line what an operation failed of.
func (e *Environment) summarise(err error, engine *engineEvents, texts string) error {
	switch {
	case len(engine.failed) == 1:
		return fmt.Errorf("%s failed: %s", engine.failed[0], cause(texts))
	case len(engine.failed) > 1:
		return fmt.Errorf("%d resources failed (%s): %s", len(engine.failed), strings.Join(engine.failed, ", "), cause(texts))
	case texts != "":
		return errors.New(cause(texts))
	}
	return e.explain(err, "")
}

// explain makes a message of what a command that failed wrote to stderr. An
// Automation API error carries all output in its text; only Pulumi's own error
// lines are taken from it.
func (e *Environment) explain(err error, stderr string) error {
	var exit *pulumicli.ExitError
	if stderr == "" {
		_, stderr, _ = strings.Cut(err.Error(), "\nstderr: ")
	}
	if explained := classify(stderr); explained != nil {
		return explained
	}
	if lines := errorLines(stderr); lines != "" {
		return errors.New(e.options.Masker.Mask(lines))
	}
	if errors.As(err, &exit) {
		return fmt.Errorf("pulumi ended with %w and no message", exit)
	}
	message, _, _ := strings.Cut(err.Error(), "\ncode: ")
	return errors.New(e.options.Masker.Mask(message))
}

func classify(text string) error {
	for _, k := range known {
		if match := k.pattern.FindStringSubmatch(text); match != nil {
			return k.explain(match)
		}
	}
	return nil
}

// cause is the first line that says something.
func cause(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "no message"
}

// errorLines are the messages behind "error:" at the start of a line.
func errorLines(stderr string) string {
	var messages []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if message, ok := strings.CutPrefix(line, "error: "); ok {
			messages = append(messages, message)
		} else if one, ok := strings.CutPrefix(line, "* "); ok && len(messages) > 0 { // of several: "2 errors occurred:"
			last := len(messages) - 1
			if !strings.HasSuffix(messages[last], ":") {
				messages[last] += ","
			}
			messages[last] += " " + one
		}
	}
	return strings.Join(messages, "; ")
}
