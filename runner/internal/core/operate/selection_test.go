package operate

import (
	"slices"
	"strings"
	"testing"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/unchanged"
	"mara/runner/internal/testing/cmdtest"
)

// jobOn returns an up of a rest of all projects.
func jobOn(s *session.Resolved, rest Rest) *job {
	open := &session.Open{Reading: &session.Reading{Resolved: s}}
	j := &job{Request: Request{Rest: rest}, s: open, w: work{plan: s.Plan}}
	j.Operation = operation.Up
	return j
}

// isCurrent reports no changes of any project.
func isCurrent(plan.Step) []string { return nil }

// TestResumeRunsWhatHasChanged: a project that is done runs again where its program has changed, and so may
// the readers of its outputs, and a run of another rollout is not resumed.
func TestResumeRunsWhatHasChanged(t *testing.T) {
	t.Parallel()
	s := cmdtest.LastUp(t, map[string]event.Result{
		"kind-cluster": event.Succeeded, "kubeconfig": event.Succeeded, "certmgr": event.Succeeded,
		"prometheus": event.Failed,
	})
	j := jobOn(s, Rest{Resume: true})
	changed := func(step plan.Step) []string {
		if step.Project.Name == "kubeconfig" {
			return []string{"program"}
		}
		return nil
	}
	if err := j.limitToRest(changed); err != nil {
		t.Fatal(err)
	}
	if got := j.w.plan.Names(); !slices.Equal(got, []string{"kubeconfig", "certmgr", "prometheus"}) {
		t.Errorf("it resumes %v", got)
	}
	if !slices.Contains(j.w.done, "certmgr") || len(s.Warnings) != 1 ||
		!strings.Contains(s.Warnings[0], ": kubeconfig (program)") {
		t.Errorf("done %v, warnings %q", j.w.done, s.Warnings)
	}
	if got := left(
		s.Plan, journal.Resumption{Projects: s.Plan.Names(), Succeeded: s.Plan.Names()}, operation.Preview,
		(*unchanged.Projects)(nil).ChangedSince,
	); len(got) != len(s.Plan.Steps) {
		t.Errorf("a preview resumes %v", got)
	}
	j = jobOn(s, Rest{Resume: true})
	j.Rollout = &Rollout{Resumes: []string{"another"}}
	if err := j.limitToRest(isCurrent); err != nil || len(j.w.plan.Steps) != len(s.Plan.Steps) || j.w.resumes != "" {
		t.Errorf("of another rollout it resumes %v, %v", j.w.plan.Names(), err)
	}
}

// TestResumeHasTheSelectionOfItsRun: projects that the run skipped are skipped again, and
// do not count as done.
func TestResumeHasTheSelectionOfItsRun(t *testing.T) {
	t.Parallel()
	s := cmdtest.LastUp(t, map[string]event.Result{"kind-cluster": event.Succeeded, "kubeconfig": event.Failed, "certmgr": ""})
	j := jobOn(s, Rest{Resume: true})
	if err := j.limitToRest(isCurrent); err != nil {
		t.Fatal(err)
	}
	if got := j.w.plan.Names(); !slices.Equal(got, []string{"kubeconfig", "certmgr"}) {
		t.Errorf("it resumes with %v", got)
	}
	reasons := map[string]string{}
	for _, excluded := range j.w.plan.Excluded {
		reasons[excluded.Step.Project.Name], _, _ = strings.Cut(excluded.Reason, " run ")
	}
	if reasons["kind-cluster"] != "done in" || reasons["prometheus"] != "not selected in" {
		t.Errorf("the others are skipped because of %v", reasons)
	}
	if got := j.selectRest(s).Only; !slices.Equal(got, []string{"kubeconfig", "certmgr"}) {
		t.Errorf("before that, it looks at %v", got)
	}
	j.Selection.Skip = []string{"certmgr"}
	if got := j.selectRest(s).Only; !slices.Equal(got, []string{"kubeconfig"}) {
		t.Errorf("with --skip, it looks at %v", got)
	}
	j.Selection, j.Rest = plan.Selection{}, Rest{Failed: true}
	if got := j.selectRest(s).Only; !slices.Equal(got, []string{"kubeconfig"}) {
		t.Errorf("with --failed, it looks at %v", got)
	}
}

// TestResumeComparesWhatItCallsDone: a project that the command line skips is not recorded as done, for it was not
// compared with its last success.
func TestResumeComparesWhatItCallsDone(t *testing.T) {
	t.Parallel()
	s := cmdtest.LastUp(
		t, map[string]event.Result{"kind-cluster": event.Succeeded, "kubeconfig": event.Succeeded, "certmgr": event.Failed},
	)
	j := jobOn(s, Rest{Resume: true})
	selected, err := plan.Select(s.Plan, plan.Selection{Skip: []string{"kubeconfig"}})
	if err != nil {
		t.Fatal(err)
	}
	j.w.plan = selected
	changed := func(step plan.Step) []string {
		if step.Project.Name == "kubeconfig" {
			return []string{"program"}
		}
		return nil
	}
	if err := j.limitToRest(changed); err != nil || !slices.Equal(j.w.done, []string{"kind-cluster"}) {
		t.Errorf("it records %v as done, %v", j.w.done, err)
	}
}

// TestResumeOfARunThatIsDone looks at nothing, and says so.
func TestResumeOfARunThatIsDone(t *testing.T) {
	t.Parallel()
	s := cmdtest.LastUp(t, map[string]event.Result{"kind-cluster": event.Succeeded})
	j := jobOn(s, Rest{Resume: true})
	if selected, err := plan.Select(s.Plan, j.selectRest(s)); err == nil {
		t.Errorf("it looks at %v", selected.Names())
	}
	if err := j.limitToRest(isCurrent); err != nil || len(j.w.plan.Steps) > 0 {
		t.Errorf("it resumes with %v, %v", j.w.plan.Names(), err)
	}
	if len(s.Warnings) != 1 || !strings.HasPrefix(s.Warnings[0], "nothing is left to do from run 20261120-") {
		t.Errorf("warnings: %v", s.Warnings)
	}
}

func TestFailedWhereNothingFailed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		results    map[string]event.Result
		text, next string
	}{
		{"all is done", map[string]event.Result{"kind-cluster": event.Succeeded}, " succeeded", "run up for all projects"},
		{
			"not all ran", map[string]event.Result{"kind-cluster": event.Succeeded, "certmgr": ""}, " succeeded",
			"run the rest with --resume",
		},
	} {
		s := cmdtest.LastUp(t, test.results)
		err := jobOn(s, Rest{Failed: true}).limitToRest(isCurrent)
		if err == nil || !strings.HasPrefix(err.Error(), "nothing failed in the last up of kind/dev: run 20261120-") ||
			!strings.HasSuffix(err.Error(), test.text) {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if next, ok := err.(interface{ NextStep() string }); !ok || next.NextStep() != test.next ||
			cmd.ExitCode(err) != cmd.ExitConfig {
			t.Errorf("%s: exit code %d, %#v", test.name, cmd.ExitCode(err), err)
		}
	}
}
