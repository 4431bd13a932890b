package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong in a configuration file.
type Problem struct {
	File string // as shown: "config/pulumi/environment"
	Line int    // 0 when the problem has no line
	Key  string // the configuration key or variable, if it is about one
	Text string // what is wrong and what is allowed

	Acceptable bool // AcceptKey can override it
}

// HowToAccept returns the line that overrides the problem, as the end of a message; "" if nothing does.
func (p Problem) HowToAccept() string {
	if !p.Acceptable {
		return ""
	}
	return fmt.Sprintf("; if it is right, write  %s: [%q]", AcceptKey, p.Key)
}

// String returns the problem on one line, beginning with its file and line.
func (p Problem) String() string {
	text := p.Text
	if p.Key != "" {
		text = p.Key + " " + text
	}
	if p.File == "" {
		return text
	}
	if p.Line == 0 {
		return p.File + ": " + text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, text)
}

// Error is a configuration or environment that is not valid. It holds all problems, so
// that the user can fix them in one go.
type Error struct {
	Problems []Problem
	Next     string // what to do about it; empty when the problems say so
}

// Error lists the problems, one on a line.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems", len(e.Problems))
	if !slices.ContainsFunc(e.Problems, func(p Problem) bool { return p.File == "" }) { // such as a missing flag
		b.WriteString(" in the configuration")
	}
	b.WriteByte(':')
	for _, problem := range e.Problems {
		b.WriteString("\n  " + problem.String())
	}
	return b.String()
}

// NextStep returns the advice what to do about the error.
func (e *Error) NextStep() string { return e.Next }

// problemsError returns an Error, or nil without problems.
func problemsError(problems ...Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Problems: problems}
}

// Join joins errors into one that lists all their problems. It returns a single error
// unchanged and skips nil.
func Join(errs ...error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	var problems []Problem
	for _, err := range errs {
		for _, p := range problemsOf(err) {
			if !slices.Contains(problems, p) { // a layer that several environments import
				problems = append(problems, p)
			}
		}
	}
	return &Error{Problems: problems}
}

// problemsOf returns the problems of an error; the last one ends with its next step. An error
// of another type becomes one problem.
func problemsOf(err error) []Problem {
	problems := []Problem{{Text: err.Error()}}
	if several, ok := errors.AsType[*Error](err); ok {
		problems = slices.Clone(several.Problems)
	}
	var next interface{ NextStep() string }
	if errors.As(err, &next) && next.NextStep() != "" {
		problems[len(problems)-1].Text += "; " + next.NextStep()
	}
	return problems
}

// FlagError is a wrong or missing value of a command-line flag.
type FlagError struct {
	Flag string // "--stack"
	Text string // what is wrong
	Next string // what to do about it
}

// Error names the flag and what is wrong with its value.
func (e *FlagError) Error() string { return e.Flag + ": " + e.Text }

// NextStep returns the advice what to do about the error.
func (e *FlagError) NextStep() string { return e.Next }

// WithProblems adds problems to an error about an invalid configuration. It returns an error
// of another type unchanged.
func WithProblems(err error, more []Problem) error {
	invalid, ok := errors.AsType[*Error](err)
	switch {
	case len(more) == 0:
		return err
	case err == nil:
		return &Error{Problems: more}
	case !ok:
		return err
	}
	return &Error{Problems: append(invalid.Problems, more...), Next: invalid.Next}
}

// WithoutInvalid removes what rules say about keys whose values are invalid, or missing, already.
func WithoutInvalid(found []Problem, invalid error) []Problem {
	wrong, ok := errors.AsType[*Error](invalid)
	if !ok {
		return found
	}
	return slices.DeleteFunc(found, func(p Problem) bool {
		return slices.ContainsFunc(wrong.Problems, func(other Problem) bool { return other.Key == p.Key })
	})
}
