package stacks

import (
	"errors"
	"testing"
)

func TestPassingErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ThrottlingException: Rate exceeded":                                      "throttling",
		"[429] Too Many Requests":                                                 "throttling",
		"RequestLimitExceeded: Request limit exceeded.":                           "throttling",
		"client rate limiter Wait returned an error: rate limit":                  "throttling",
		"dial tcp 10.0.0.1:443: i/o timeout":                                      "timeout",
		"net/http: TLS handshake timeout":                                         "timeout",
		"context deadline exceeded":                                               "timeout",
		"etcdserver: request timed out":                                           "timeout",
		"Operation cannot be fulfilled on x: the object has been modified; apply": "conflict",
		"ConflictException: a policy is already being updated":                    "conflict",
		"another operation (install/upgrade/rollback) is in progress":             "conflict",
		"read tcp 10.0.0.1: read: connection reset by peer":                       "connection",
		"dial tcp 10.0.0.1:6443: connect: connection refused":                     "connection",
		"unexpected EOF": "connection",
		"the server is currently unable to handle the request: 503 Service Unavailable": "connection",
		"AccessDenied: not authorized":               "",
		"chart \"x\" version \"429000\" not found":   "",
		"InvalidParameterValue: subnet 10.50.0.0/16": "",
		"BucketAlreadyExists: the name is taken":     "",
		"namespaces \"x\" already exists":            "",
		"failed to create 5042 pods":                 "",
	} {
		if got, ok := passing(text); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestTransientOnlyIfEverythingPasses(t *testing.T) {
	t.Parallel()
	failure := errors.New("up failed")
	for _, test := range []struct {
		name        string
		diagnostics []string
		want        bool
	}{
		{"nothing is known", nil, false},
		{"one that passes", []string{"connection reset by peer"}, true},
		{"two that pass", []string{"connection reset by peer", "Rate exceeded"}, true},
		{"one that does not", []string{"connection reset by peer", "AccessDenied"}, false},
	} {
		err := ifTransient(failure, test.diagnostics)
		if Transient(err) != test.want || !errors.Is(err, failure) {
			t.Errorf("%s: got %v (transient %v)", test.name, err, Transient(err))
		}
	}
	if got := ifTransient(failure, []string{"i/o timeout", "Rate exceeded"}).Error(); got != "up failed (timeout)" {
		t.Errorf("the error reads %q", got)
	}
}
