package doctor

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/runner/internal/feature/doctor/preflight"
)

// TestJudge: warnings are shown with the run, problems are the error.
func TestJudge(t *testing.T) {
	t.Parallel()
	result := func(title string, findings ...preflight.Finding) preflight.Result {
		return preflight.Result{Title: title, Status: findings[0].Status, Findings: findings}
	}
	warning, problem := preflight.Doubtful("none", "get one")[0], preflight.Bad("broken", "mend it")[0]
	warnings, err := judge(preflight.Report{Results: []preflight.Result{result("Docker", preflight.Good("27")[0]), result("kubectl", warning)}}, "up")
	if diff := cmp.Diff([]string{"kubectl: none"}, warnings); diff != "" || err != nil {
		t.Error(diff, err)
	}
	_, err = judge(preflight.Report{Results: []preflight.Result{result("Docker", problem, warning)}}, "up")
	var problems *ProblemsError
	if !errors.As(err, &problems) || err.Error() != "Docker: broken" || problems.NextStep() != "mend it" {
		t.Errorf("got %v", err)
	}
}

// TestProblemsError: it wraps its cause, so that callers can test for that.
func TestProblemsError(t *testing.T) {
	t.Parallel()
	cause := &config.Error{Problems: []config.Problem{{Text: "bad"}}}
	err := &ProblemsError{operation: "up", cause: cause, problems: preflight.Report{Results: []preflight.Result{
		{Title: "configuration", Status: preflight.Problem, Findings: preflight.Bad("bad", "")},
		{Title: "Docker", Status: preflight.Problem, Findings: preflight.Bad("broken", "mend it")},
	}}}
	want := "2 problems are in the way of up:\n  configuration: bad\n  Docker: broken\n    -> mend it"
	if err.Error() != want || err.NextStep() != "nothing was changed; `runner doctor up` looks at all of it again" || !errors.Is(err, cause) {
		t.Errorf("got %s; %s", err, err.NextStep())
	}
	if !slices.Equal([]int{numberOf(err), numberOf(cause), numberOf(errors.New("x"))}, []int{2, 1, 1}) {
		t.Error("miscounted")
	}
}
