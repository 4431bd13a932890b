package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"mara/config"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/leftovers"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/prompt"
)

// TestExitTable holds an error against every entry of the table: each has to be
// the one that decides, alone and as the failure of a step among others.
func TestExitTable(t *testing.T) {
	t.Parallel()
	cases := []struct {
		err  error
		code int
	}{
		{&failure.Usage{}, ExitUsage},
		{&config.FlagError{}, ExitUsage},
		{&plan.SelectionError{}, ExitUsage},
		{&config.Error{}, ExitConfig},
		{&config.NoRootError{}, ExitConfig},
		{&failure.Environment{}, ExitConfig},
		{problemsError{}, ExitConfig},
		{&plan.ExcludedError{}, ExitConfig},
		{&journal.ResumeError{}, ExitConfig},
		{stacks.ErrPassphrase, ExitConfig},
		{stacks.ErrLogin, ExitConfig},
		{&leftovers.PendingError{}, ExitConfig},
		{&statefiles.BrokenError{}, ExitConfig},
		{&leftovers.LockedError{}, ExitLocked},
		{&stacks.LockedError{}, ExitLocked},
		{&lock.HeldError{}, ExitLocked},
		{interrupt.ErrInterrupted, ExitInterrupted},
		{context.Canceled, ExitInterrupted},
	}
	table := exitCodes()
	decided := make([]bool, len(table))
	for _, test := range cases {
		first := -1
		for i, entry := range table {
			if first < 0 && entry.matches(test.err) {
				first = i
			}
		}
		if first < 0 {
			t.Errorf("%T matches nothing", test.err)
			continue
		}
		decided[first] = true
		step := fmt.Errorf("up vpc: hook kubeconfig: %w", test.err)
		for _, err := range []error{test.err, fmt.Errorf("wrapped: %w", test.err), errors.Join(errors.New("x"), step)} {
			if got := ExitCode(err); got != test.code {
				t.Errorf("%T: exit code %d, want %d", test.err, got, test.code)
			}
		}
	}
	for i, ok := range decided {
		if !ok {
			t.Errorf("entry %d of the table (exit code %d) has no test", i, table[i].code)
		}
	}
}

// TestPrintError: of an error that a run has reported, only what came up besides
// is printed.
func TestPrintError(t *testing.T) {
	t.Parallel()
	reported := Exit(ExitFailed)
	locked := &failure.Environment{Text: "the lock of dev cannot be removed", Next: "remove it"}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"nothing", nil, ""},
		{"reported", reported, ""},
		{"reported, wrapped", fmt.Errorf("up: %w", reported), ""},
		{"reported, and closed well", errors.Join(reported, nil), ""},
		{"reported, and not closed", errors.Join(reported, locked),
			"error: the lock of dev cannot be removed\nhint: remove it\n"},
		{"deeper", errors.Join(errors.Join(reported, errors.New("one")), errors.Join(errors.New("two"), nil)),
			"error: one\ntwo\n"},
		{"long lines", &failure.Environment{Text: "2 problems:\n  the first one, which needs more than a line here\n  b", Next: "look at /a/very/long/path/which/is/not/broken/at/all now"},
			"error: 2 problems:\n  the first one, which needs more than a\n    line here\n  b\nhint: look at\n  /a/very/long/path/which/is/not/broken/at/all\n  now\n"},
		{"open files", fmt.Errorf("starting a: %w", &os.SyscallError{Syscall: "pipe2", Err: syscall.EMFILE}),
			"error: starting a: pipe2: too many open\n  files\nhint: the limit of open files is too low\n  here: raise it with `ulimit -n 4096`,\n  or work on fewer projects at once with\n  --parallel 1\n"},
		{"a command", errors.New("the key is missing; set it with `runner config set a b` or else"),
			"error: the key is missing; set it with\n  `runner config set a b` or else\n"},
		{"a command that is longer than a line", errors.New("see `runner config set aaaaaaaaaaaaaaa bbbbbbbbbbbbbbbb` or an odd ` here"),
			"error: see\n  `runner config set aaaaaaaaaaaaaaa bbbbbbbbbbbbbbbb`\n  or an odd ` here\n"},
		{"a password in a URL", errors.New("no route to postgres://me:hunter2@db"),
			"error: no route to postgres://me:***@db\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			PrintError(&out, 40, test.err)
			if out.String() != test.want {
				t.Errorf("got %q, want %q", &out, test.want)
			}
		})
	}
}

// TestExitMeanings: every code is explained, and nothing else is a failure.
func TestExitMeanings(t *testing.T) {
	t.Parallel()
	for _, entry := range exitCodes() {
		if ExitMeanings()[entry.code] == "" {
			t.Errorf("exit code %d has no meaning", entry.code)
		}
	}
	for _, err := range []error{errors.New("x"), &prompt.Declined{}, context.DeadlineExceeded} {
		if got := ExitCode(err); got != ExitFailed {
			t.Errorf("%T: exit code %d", err, got)
		}
	}
	unlocked := &failure.Environment{Text: "the lock of dev cannot be removed"}
	if got := ExitCode(errors.Join(fmt.Errorf("up: %w", interrupt.ErrInterrupted), unlocked)); got != ExitInterrupted {
		t.Errorf("what fails after an interrupt: exit code %d", got)
	}
	for code := range ExitMeanings() {
		if got := ExitCode(errors.Join(context.Canceled, Exit(code))); got != code {
			t.Errorf("what was reported as %d became %d", code, got)
		}
	}
}

// problemsError stands for the problems that a feature's checks have found.
type problemsError struct{}

func (problemsError) Error() string      { return "problems" }
func (problemsError) AboutSurroundings() {}
