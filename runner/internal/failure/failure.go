// Package failure has the errors that keep a command from being done, with the
// next step for its user: wrong usage, and surroundings that are not as they
// have to be.
package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// Environment is something around the runner that is not as it has to be:
// a folder that cannot be written, an engine that is missing.
type Environment struct{ Text, Next string }

// Error says what is wrong.
func (e *Environment) Error() string { return e.Text }

// NextStep says what to do about it.
func (e *Environment) NextStep() string { return e.Next }

// Usage is a command line that makes no sense.
type Usage struct{ Text, Next string }

// Error says what is wrong.
func (e *Usage) Error() string { return e.Text }

// NextStep says what to do about it.
func (e *Usage) NextStep() string { return e.Next }

// Advised is an error with what to do about it.
type Advised struct {
	error
	next string
}

// Advise says what to do about an error.
func Advise(err error, next string) *Advised { return &Advised{err, next} }

// NextStep says what to do about it.
func (e *Advised) NextStep() string { return e.next }

// Unwrap returns what went wrong.
func (e *Advised) Unwrap() error { return e.error }

// Usagef makes a Usage that points to the help of a command.
func Usagef(command, format string, args ...any) error {
	return &Usage{
		Text: fmt.Sprintf(format, args...),
		Next: fmt.Sprintf("see `%s --help`", strings.TrimSpace("runner "+command)),
	}
}

// RunnerFolder says that the folder .runner cannot be used.
func RunnerFolder(err error) error {
	return &Environment{
		Text: fmt.Sprintf("the folder .runner cannot be used: %v", err),
		Next: "the runner keeps state and runs there; " + WriteRemedy(err, "it") + ", or choose another root with --root",
	}
}

// WriteRemedy says what to do about something that could not be written, in
// words that go on: "free some space on its disk". The target is what it is
// called where it is to be made writable: "the folder".
func WriteRemedy(err error, target string) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space on its disk"
	case errors.Is(err, syscall.EROFS):
		return "mount its file system writable"
	case errors.Is(err, fs.ErrPermission):
		return "make " + target + " writable"
	}
	return "look whether " + target + " can be written"
}
