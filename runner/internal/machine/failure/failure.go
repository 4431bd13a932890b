// Package failure has errors with hints for the user: wrong usage, and problems of the
// environment in which the runner runs.
package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// Environment is a problem outside of the runner, such as a read-only directory or a missing
// engine.
type Environment struct{ Text, Next string }

// Error says what is wrong.
func (e *Environment) Error() string { return e.Text }

// NextStep says what to do about it.
func (e *Environment) NextStep() string { return e.Next }

// Usage is an error in the command line.
type Usage struct{ Text, Next string }

// Error says what is wrong.
func (e *Usage) Error() string { return e.Text }

// NextStep says what to do about it.
func (e *Usage) NextStep() string { return e.Next }

// Advised is an error with a hint.
type Advised struct {
	error
	next string
}

// Advise adds a hint to an error.
func Advise(err error, next string) *Advised { return &Advised{err, next} }

// NextStep says what to do about it.
func (e *Advised) NextStep() string { return e.next }

// Unwrap returns the error without the hint.
func (e *Advised) Unwrap() error { return e.error }

// Usagef returns a Usage that refers to the help of a command.
func Usagef(command, format string, args ...any) error {
	return &Usage{
		Text: fmt.Sprintf(format, args...),
		Next: fmt.Sprintf("see `%s --help`", strings.TrimSpace("runner "+command)),
	}
}

// FewFiles is the hint for the system's "too many open files".
const FewFiles = "the limit of open files is too low here: raise it with `ulimit -n 4096`, or work on fewer projects at once " +
	"with --parallel 1"

// Hint returns what to do about an error, or "".
func Hint(err error) string {
	var next interface{ NextStep() string }
	switch {
	case errors.As(err, &next) && next.NextStep() != "":
		return next.NextStep()
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return FewFiles
	}
	return ""
}

// RunnerDir returns the error of an unusable directory .runner; nil for none.
func RunnerDir(err error) error {
	if err == nil {
		return nil
	}
	remedy := WriteRemedy(err, "it")
	if errors.Is(err, fs.ErrPermission) {
		remedy = "it belongs to another user, or was made in a run with sudo: make it yours"
	}
	return &Environment{
		Text: fmt.Sprintf("the directory .runner cannot be used: %v", err),
		Next: "the runner stores state and runs there; " + remedy + ", or choose another root with --root",
	}
}

// WriteRemedy returns a hint for a failed write as part of a sentence, such as "free some space
// on its disk". target names what must be writable, such as "the directory".
func WriteRemedy(err error, target string) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space on its disk"
	case errors.Is(err, syscall.EROFS):
		return "mount its file system writable"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "raise the limit of open files with `ulimit -n 4096`"
	case errors.Is(err, fs.ErrPermission):
		return "make " + target + " writable"
	}
	return "check that " + target + " can be written"
}

// Reported is an error that the user has already seen, as in the summary of a failed run. Only its exit code is left
// to report.
type Reported struct{ Err error }

// Error returns the text of the error.
func (e *Reported) Error() string { return e.Err.Error() }

// Unwrap returns the error, which decides the exit code.
func (e *Reported) Unwrap() error { return e.Err }
