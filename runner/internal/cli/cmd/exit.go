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
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitConfig      = 3
	ExitLocked      = 4
	ExitChanges     = 5
	ExitInterrupted = 130
)

// ExitMeanings says what each exit code means, for help texts.
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
		{isA[*failure.Usage], ExitUsage},
		{isA[*config.FlagError], ExitUsage},
		{isA[*journal.NoRunError], ExitUsage},
		{doctor.IsAboutSurroundings, ExitConfig},
		{isA[*plan.SelectionError], ExitUsage},
		{isA[*plan.ExcludedError], ExitConfig},
		{isA[*journal.ResumeError], ExitConfig},
		{isA[*leftovers.LockedError], ExitLocked},
		{isA[*stacks.LockedError], ExitLocked},
		{isA[*lock.HeldError], ExitLocked},
		{is(interrupt.ErrInterrupted), ExitInterrupted},
		{is(context.Canceled), ExitInterrupted},
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

// ExitCode is the exit code for an error; the first match in the table wins.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	var told *Reported
	if errors.As(err, &told) {
		return told.Code
	}
	for _, entry := range exitCodes() {
		if entry.matches(err) {
			return entry.code
		}
	}
	return ExitFailed
}

// Reported is an end that the user has been told about in full, such as the
// summary of a failed run: only the exit code is left to say.
type Reported struct{ Code int }

// Error names the exit code; nobody sees it outside of tests.
func (r *Reported) Error() string { return fmt.Sprintf("exit code %d", r.Code) }

// PrintError prints what has not been reported of an error, with the next step
// if there is one.
func PrintError(w io.Writer, err error) {
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
	if !isA[*Reported](err) {
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

// OnUsageError turns the parser's errors into ours: `invalid value "x" for
// flag -parallel: parse error` names the flag the way nobody types it.
func OnUsageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	for _, pattern := range []string{`^invalid value ("[^"]*") for flag -([\w-]+): (.*)$`, `^invalid boolean value ("[^"]*") for -([\w-]+): (.*)$`} {
		if match := regexp.MustCompile(pattern).FindStringSubmatch(text); match != nil {
			return failure.Usagef(Path(c), "%s: %s is not a valid value%s", Dashed(match[2]), match[1], cause(match[3]))
		}
	}
	return failure.Usagef(Path(c), "%s", text)
}

// cause is the parser's reason, unless it says no more than that it is wrong.
func cause(text string) string {
	if text == "parse error" || strings.HasPrefix(text, "strconv.") || strings.HasPrefix(text, "time: ") {
		return ""
	}
	return ": " + text
}

// ExitText lists exit codes; every command's description ends with it.
func ExitText(codes ...int) string {
	var parts []string
	for _, code := range codes {
		parts = append(parts, fmt.Sprintf("  %-3d  %s", code, ExitMeanings()[code]))
	}
	return "Exit codes:\n" + strings.Join(parts, "\n")
}
