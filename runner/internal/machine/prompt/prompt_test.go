package prompt_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/term"

	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/testing/prompttest"
)

// ask asks in the background, as a user would be asked.
func ask[T any](t *testing.T, side *os.File, question func(prompt.Terminal) (T, error)) (answer func() (T, error)) {
	t.Helper()
	terminal, ok := prompt.NewTerminal(side, side)
	if !ok {
		t.Fatal("a terminal is none")
	}
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	go func() {
		value, err := question(terminal)
		replies <- reply{value, err}
	}()
	return func() (T, error) {
		r := <-replies
		return r.value, r.err
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, typed, want string
		err               error
	}{
		{"an answer", "dev\r", "dev", nil},
		{"corrected", "dex\x7fv\r", "dev", nil},
		{"nothing", "\r", "", nil},
		{"Ctrl-C", "de\x03", "", interrupt.ErrInterrupted},
		{"Ctrl-D ends the line", "\x04", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			person, side := prompttest.Open(t)
			before := prompttest.State(t, side)
			answer := ask(t, side, func(terminal prompt.Terminal) (string, error) { return terminal.Text(t.Context(), "What?") })
			person.Expect("What?")
			person.Type(test.typed)
			got, err := answer()
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %q, %v; want %q, %v", got, err, test.want, test.err)
			}
			checkRestored(t, side, before)
		})
	}
}

// TestPassword: what is typed never reaches the screen.
func TestPassword(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, typed, want string
		err               error
	}{
		{"an answer", "hunter2\r", "hunter2", nil},
		{"with spaces", " hun ter2 \r", " hun ter2 ", nil},
		{"corrected", "hunters\x7f2\r", "hunter2", nil},
		{"nothing", "\r", "", nil},
		{"Ctrl-C", "hunter2\x03", "", interrupt.ErrInterrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			person, side := prompttest.Open(t)
			before := prompttest.State(t, side)
			answer := ask(t, side, func(terminal prompt.Terminal) (string, error) { return terminal.Password(t.Context(), "Password:") })
			person.Expect("Password:")
			person.Type(test.typed)
			got, err := answer()
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %q, %v; want %q, %v", got, err, test.want, test.err)
			}
			if screen := person.Screen(); strings.Contains(screen, "unter") || strings.Contains(screen, "r2") {
				t.Errorf("the screen shows what was typed: %q", screen)
			}
			checkRestored(t, side, before)
		})
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, typed string
		want        bool
		err         error
	}{
		{"yes", "y\r", true, nil},
		{"in full", "Yes\r", true, nil},
		{"no", "n\r", false, nil},
		{"the default", "\r", false, nil},
		{"Ctrl-C", "\x03", false, interrupt.ErrInterrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			person, side := prompttest.Open(t)
			answer := ask(t, side, func(terminal prompt.Terminal) (bool, error) { return terminal.Confirm(t.Context(), "Sure?") })
			person.Expect("Sure?")
			person.Type(test.typed)
			got, err := answer()
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %v, %v; want %v, %v", got, err, test.want, test.err)
			}
		})
	}
}

// TestDecide: no is the default, and other answers are there as well.
func TestDecide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, typed, want string
		err               error
	}{
		{"yes", "y\r", prompt.Yes, nil},
		{"in full", "Yes\r", prompt.Yes, nil},
		{"no", "no\r", prompt.No, nil},
		{"the default", "\r", prompt.No, nil},
		{"a further answer", "D\r", "d", nil},
		{"none of them", "q\ry\r", prompt.Yes, nil},
		{"Ctrl-C", "\x03", prompt.No, interrupt.ErrInterrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			person, side := prompttest.Open(t)
			answer := ask(t, side, func(terminal prompt.Terminal) (string, error) {
				return terminal.Decide(t.Context(), "Sure?", prompt.Option{Value: "d", Note: "details"})
			})
			person.Expect("Sure? (y/N, d details)")
			first, rest, _ := strings.Cut(test.typed, "\r")
			person.Type(first + "\r")
			if rest != "" {
				person.Expect("answer y/N, d details")
				person.Type(rest)
			}
			got, err := answer()
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %q, %v; want %q, %v", got, err, test.want, test.err)
			}
		})
	}
}

// TestConfirmAsksAgain when the answer is neither yes nor no.
func TestConfirmAsksAgain(t *testing.T) {
	t.Parallel()
	person, side := prompttest.Open(t)
	answer := ask(t, side, func(terminal prompt.Terminal) (bool, error) { return terminal.Confirm(t.Context(), "Sure?") })
	person.Expect("Sure?")
	person.Type("maybe\r")
	person.Expect("is not a valid answer")
	person.Type("y\r")
	if yes, err := answer(); !yes || err != nil {
		t.Errorf("got %v, %v", yes, err)
	}
}

// TestQuestionsEndWithTheRunner: SIGTERM cancels the context of an open question.
func TestQuestionsEndWithTheRunner(t *testing.T) {
	t.Parallel()
	person, side := prompttest.Open(t)
	before := prompttest.State(t, side)
	ctx, cancel := context.WithCancelCause(t.Context())
	answer := ask(t, side, func(terminal prompt.Terminal) (string, error) { return terminal.Text(ctx, "What?") })
	person.Expect("\x1b[6n") // survey reads keys
	cancel(interrupt.ErrInterrupted)
	if got, err := answer(); got != "" || !errors.Is(err, interrupt.ErrInterrupted) {
		t.Errorf("got %q, %v", got, err)
	}
	checkRestored(t, side, before)
}

func checkRestored(t *testing.T, side *os.File, before term.State) {
	t.Helper()
	if diff := cmp.Diff(before, prompttest.State(t, side), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("the terminal is not as it was: %s", diff)
	}
}

func TestNewTerminal(t *testing.T) {
	t.Parallel()
	if _, ok := prompt.NewTerminal(strings.NewReader(""), &bytes.Buffer{}); ok {
		t.Error("a buffer is a terminal")
	}
	if _, ok := prompt.NewTerminal(os.Stdin, &bytes.Buffer{}); ok {
		t.Error("half a terminal is one")
	}
}
