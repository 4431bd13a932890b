package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

// Problem is one thing that is wrong in a configuration file.
type Problem struct {
	File string // as shown: "config/pulumi/environment"
	Line int    // 0 when the problem has no line
	Key  string // the configuration key or variable, if it is about one
	Text string // what is wrong and what is allowed
}

// String is the problem on one line, with its place first.
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

// Error is a configuration or environment that is not valid. It holds all
// problems at once, so that nobody has to mend them one run at a time.
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
	fmt.Fprintf(&b, "%d problems in the configuration:", len(e.Problems))
	for _, problem := range e.Problems {
		b.WriteString("\n  " + problem.String())
	}
	return b.String()
}

// NextStep is what to do about the error.
func (e *Error) NextStep() string { return e.Next }

// problemsError is nil when there are no problems.
func problemsError(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Problems: problems}
}

// Join makes one error of several, so that all their problems are told at once.
// A single error is returned as it is; nil is left out.
func Join(errs ...error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return &Error{Problems: once(slices.Concat(slice.Map(errs, problemsOf)...))}
}

// once returns each problem once: several environments have the same one where a
// layer is broken that they import.
func once(problems []Problem) []Problem {
	var all []Problem
	for _, p := range problems {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// problemsOf are the problems that an error tells, the last one with what to do
// next. An error of another kind is a problem itself.
func problemsOf(err error) []Problem {
	problems := []Problem{{Text: err.Error()}}
	var several *Error
	if errors.As(err, &several) {
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

// NextStep is what to do about the error.
func (e *FlagError) NextStep() string { return e.Next }

// WithProblems adds problems to those of a configuration that is not valid. An
// error of another kind is told alone.
func WithProblems(err error, more []Problem) error {
	var invalid *Error
	switch {
	case len(more) == 0:
		return err
	case err == nil:
		return &Error{Problems: more}
	case !errors.As(err, &invalid):
		return err
	}
	return &Error{Problems: append(invalid.Problems, more...), Next: invalid.Next}
}
