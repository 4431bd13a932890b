package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/doctor"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/interrupt"
	"mara/runner/internal/journal"
	"mara/runner/internal/leftovers"
	"mara/runner/internal/lock"
	"mara/runner/internal/plan"
	"mara/runner/internal/stacks"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitConfig      = 3
	exitLocked      = 4
	exitChanges     = 5
	exitInterrupted = 130
)

// exitMeanings says what each exit code means, for help texts.
func exitMeanings() map[int]string {
	return map[int]string{
		exitDone:        "done",
		exitFailed:      "an operation failed",
		exitUsage:       "wrong usage",
		exitConfig:      "configuration or environment not valid",
		exitLocked:      "the environment is locked by another run",
		exitChanges:     "changes or drift found (with --exit-code)",
		exitInterrupted: "interrupted",
	}
}

// allExitCodes lists the exit codes.
func allExitCodes() []int {
	return []int{exitDone, exitFailed, exitUsage, exitConfig, exitLocked, exitChanges, exitInterrupted}
}

// exitCodes is the one table from errors to exit codes; the first match wins,
// and what is not listed is a failure.
func exitCodes() []struct {
	matches func(error) bool
	code    int
} {
	return []struct {
		matches func(error) bool
		code    int
	}{
		{isA[*failure.Usage], exitUsage},
		{isA[*config.FlagError], exitUsage},
		{isA[*journal.NoRunError], exitUsage},
		{doctor.IsAboutSurroundings, exitConfig},
		{isA[*plan.SelectionError], exitUsage},
		{isA[*plan.ExcludedError], exitConfig},
		{isA[*journal.ResumeError], exitConfig},
		{isA[*leftovers.LockedError], exitLocked},
		{isA[*stacks.LockedError], exitLocked},
		{isA[*lock.HeldError], exitLocked},
		{is(interrupt.ErrInterrupted), exitInterrupted},
		{is(context.Canceled), exitInterrupted},
	}
}

// isA says whether an error is of a type.
func isA[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// is says whether an error is this one.
func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	var told *reported
	if errors.As(err, &told) {
		return told.code
	}
	for _, entry := range exitCodes() {
		if entry.matches(err) {
			return entry.code
		}
	}
	return exitFailed
}

// reported is an end that the user has been told about in full, such as the
// summary of a failed run: only the exit code is left to say.
type reported struct{ code int }

// Error names the exit code; nobody sees it outside of tests.
func (r *reported) Error() string { return fmt.Sprintf("exit code %d", r.code) }

// printError prints what has not been reported of an error, with the next step
// if there is one.
func printError(w io.Writer, err error) {
	if err = unreported(err); err == nil {
		return
	}
	fmt.Fprintf(w, "error: %s\n", event.MaskURLs(err.Error()))
	var next interface{ NextStep() string }
	if errors.As(err, &next) && next.NextStep() != "" {
		fmt.Fprintf(w, "hint: %s\n", event.MaskURLs(next.NextStep()))
	}
}

// unreported takes what the user has been told about away from joined errors.
func unreported(err error) error {
	if !isA[*reported](err) {
		return err
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return nil
	}
	var rest []error
	for _, part := range joined.Unwrap() {
		rest = append(rest, unreported(part))
	}
	return errors.Join(rest...)
}

// onUsageError turns the parser's errors into ours: `invalid value "x" for
// flag -parallel: parse error` names the flag the way nobody types it.
func onUsageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	command := ""
	if c.Command != nil && c.Command.Name != name {
		command = c.Command.Name
	}
	for _, pattern := range []string{`^invalid value ("[^"]*") for flag -([\w-]+): (.*)$`, `^invalid boolean value ("[^"]*") for -([\w-]+): (.*)$`} {
		if match := regexp.MustCompile(pattern).FindStringSubmatch(text); match != nil {
			return failure.Usagef(command, "%s: %s is not a valid value%s", dashed(match[2]), match[1], cause(match[3]))
		}
	}
	return failure.Usagef(command, "%s", text)
}

// cause is the parser's reason, unless it says no more than that it is wrong.
func cause(text string) string {
	if text == "parse error" || strings.HasPrefix(text, "strconv.") || strings.HasPrefix(text, "time: ") {
		return ""
	}
	return ": " + text
}
