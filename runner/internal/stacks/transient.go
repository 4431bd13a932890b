package stacks

import (
	"errors"
	"fmt"
	"regexp"
)

// Passing is a kind of error that is known to pass by itself, so that trying
// again helps.
type Passing struct {
	Name    string
	pattern *regexp.Regexp
}

// PassingErrors lists what is known to pass, by what clouds, clusters and
// networks say. Whatever is not in the list is not tried again: repeating what
// is wrong wastes time and hides the cause.
func PassingErrors() []Passing {
	return []Passing{
		{"throttling", regexp.MustCompile(`(?i)throttl|rate exceeded|rate limit|too many requests|TooManyRequests|RequestLimitExceeded|SlowDown|\b429\b`)},
		{"timeout", regexp.MustCompile(`(?i)timed out|i/o timeout|TLS handshake timeout|Client\.Timeout exceeded|context deadline exceeded|RequestTimeout|gateway time-?out|\b504\b`)},
		{"conflict", regexp.MustCompile(`(?i)the object has been modified|ConflictException|OperationAborted|ConcurrentModification|ResourceInUse|another operation .{0,40}in progress|\b409 Conflict`)},
		{"connection", regexp.MustCompile(`(?i)connection reset|broken pipe|connection refused|unexpected EOF|client connection lost|transport is closing|temporary failure in name resolution|service unavailable|bad gateway|\b50[23] `)},
	}
}

// TransientError is a failure all of whose errors are known to pass.
type TransientError struct {
	Kind string // the name of the first one's kind
	Err  error
}

// Error says what went wrong.
func (e *TransientError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *TransientError) Unwrap() error { return e.Err }

// Transient reports whether an operation failed in a way that passes.
func Transient(err error) bool {
	var transient *TransientError
	return errors.As(err, &transient)
}

// ifTransient marks an error as one that passes if every diagnostic behind it
// is of such a kind: one that is not would be there the next time, too.
func ifTransient(err error, diagnostics []string) error {
	kind := ""
	for _, text := range diagnostics {
		name, ok := passing(text)
		if !ok {
			return err
		}
		if kind == "" {
			kind = name
		}
	}
	if kind == "" {
		return err
	}
	return &TransientError{Kind: kind, Err: fmt.Errorf("%w (%s)", err, kind)}
}

// passing is the kind of error that a text tells of.
func passing(text string) (string, bool) {
	for _, p := range PassingErrors() {
		if p.pattern.MatchString(text) {
			return p.Name, true
		}
	}
	return "", false
}
