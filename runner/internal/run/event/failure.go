package event

import (
	"fmt"
	"slices"
	"strings"
)

// Failure is why steps have failed. Steps with the same errors share one: a
// cluster that cannot be reached fails every project in it.
type Failure struct {
	Steps  []Step
	Errors []Diagnostic
}

// Failures returns why steps have failed, in the order of the plan.
func (s *Summary) Failures() []Failure {
	var failures []Failure
	for _, step := range s.Steps {
		if step.Result != Failed {
			continue
		}
		errs := step.Errors()
		i := slices.IndexFunc(failures, func(f Failure) bool { return slices.Equal(f.Errors, errs) })
		if i < 0 {
			i = len(failures)
			failures = append(failures, Failure{Errors: errs})
		}
		failures[i].Steps = append(failures[i].Steps, step)
	}
	return failures
}

// Title names the projects that have failed.
func (f Failure) Title() string {
	var titles []string
	for _, step := range f.Steps {
		titles = append(titles, fmt.Sprintf("%s (%s)", step.Title, step.Name))
	}
	return strings.Join(titles, ", ")
}
