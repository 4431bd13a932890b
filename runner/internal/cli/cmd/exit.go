package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/leftovers"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/machine/typeset"
)

// The exit codes.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitConfig      = 3
	ExitLocked      = 4
	ExitChanges     = 5
	ExitInterrupted = 130
)

// ExitMeanings maps exit codes to their meanings.
func ExitMeanings() map[int]string {
	return map[int]string{
		ExitDone:        "done",
		ExitFailed:      "an operation failed",
		ExitUsage:       "wrong usage",
		ExitConfig:      "configuration or environment not valid",
		ExitLocked:      "the environment is locked by another run",
		ExitChanges:     "changes or drift found (with --exit-code)",
		ExitInterrupted: "interrupted",
	}
}

// AllExitCodes lists the exit codes.
func AllExitCodes() []int { return slices.Sorted(maps.Keys(ExitMeanings())) }

// exitCodes maps errors to exit codes. The first match wins; all other errors are failures.
func exitCodes() []exitRule {
	return []exitRule{
		{is(interrupt.ErrInterrupted), ExitInterrupted}, // what fails after it, such as giving a lock back, is a consequence
		{isA[*failure.Usage], ExitUsage},
		{isA[*config.FlagError], ExitUsage},
		{session.IsAboutSurroundings, ExitConfig},
		{isA[*plan.SelectionError], ExitUsage},
		{isA[*plan.ExcludedError], ExitConfig},
		{isA[*journal.ResumeError], ExitConfig},
		{isA[*leftovers.LockedError], ExitLocked},
		{isA[*stacks.LockedError], ExitLocked},
		{isA[*lock.HeldError], ExitLocked},
		{is(context.Canceled), ExitInterrupted},
	}
}

type exitRule struct {
	matches func(error) bool
	code    int
}

// isA reports whether an error is, or wraps, a T.
func isA[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// is returns a match for errors that are, or wrap, target.
func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// ExitCode returns the exit code for an error.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if shown, ok := errors.AsType[*failure.Reported](err); ok {
		err = shown.Err
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	for _, entry := range exitCodes() {
		if entry.matches(err) {
			return entry.code
		}
	}
	return ExitFailed
}

// exitCode is an error that is nothing but an exit code.
type exitCode int

// Error names the exit code. Only tests see it.
func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// Exit returns the error of a command that ends with a code, and has said why.
func Exit(code int) error { return &failure.Reported{Err: exitCode(code)} }

// PrintError prints an error and its hint, except for errors that were reported before.
func PrintError(w io.Writer, width int, err error) {
	if err = unreported(err); err == nil {
		return
	}
	fmt.Fprintln(w, wrapped(typeset.Visible("error: "+event.MaskURLs(err.Error())), width))
	if hint := failure.Hint(err); hint != "" {
		fmt.Fprintln(w, wrapped(typeset.Visible("hint: "+event.MaskURLs(hint)), width))
	}
}

// wrapped fits the lines of a text into a width. The continuation of a line is indented a bit more than the line.
// Commands between backquotes stay whole: they are to be copied.
func wrapped(text string, width int) string {
	const whole = "\u00a0" // a space that no line ends at
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		parts := strings.Split(line, "`")
		for j := 1; j < len(parts)-1; j += 2 {
			parts[j] = strings.ReplaceAll(parts[j], " ", whole)
		}
		lines[i] = strings.ReplaceAll(typeset.Wrap(strings.Join(parts, "`"), width, indent+2), whole, " ")
	}
	return strings.Join(lines, "\n")
}

// unreported returns an error without the parts that are Reported.
func unreported(err error) error {
	if !isA[*failure.Reported](err) {
		return err
	}
	switch err := err.(type) { //nolint:errorlint // it walks through the errors itself
	case interface{ Unwrap() []error }:
		return errors.Join(lists.Map(err.Unwrap(), unreported)...)
	case *failure.Reported:
		return nil
	case interface{ Unwrap() error }:
		return unreported(err.Unwrap())
	}
	return nil
}

// OnUsageError rewrites the parser's errors: `invalid value "x" for flag -parallel:
// parse error` does not name the flag as it is typed.
func OnUsageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	pattern := regexp.MustCompile(`^invalid (?:boolean )?value ("[^"]*") for (?:flag )?-([\w-]+): (.*)$`)
	if match := pattern.FindStringSubmatch(text); match != nil {
		return failure.Usagef(Path(c), "%s: %s is not a valid value%s", Dashed(match[2]), match[1], cause(match[3]))
	}
	return failure.Usagef(Path(c), "%s", text)
}

// cause returns ": " and the parser's reason, or "" if the reason only repeats that the value is invalid.
func cause(text string) string {
	if text == "parse error" || strings.HasPrefix(text, "strconv.") || strings.HasPrefix(text, "time: ") {
		return ""
	}
	return ": " + text
}

// ExitText lists exit codes for the end of a command's description.
func ExitText(codes ...int) string {
	lines := []string{"Exit codes:"}
	for _, code := range codes {
		lines = append(lines, fmt.Sprintf("  %-3d  %s", code, ExitMeanings()[code]))
	}
	return strings.Join(lines, "\n")
}
