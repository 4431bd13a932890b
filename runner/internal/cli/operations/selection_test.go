package operations

import (
	"slices"
	"strings"
	"testing"

	"mara/config"
	"mara/projects/model/operation"
	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/testing/cmdtest"
)

// lastUp returns an environment whose last up was about some projects, with these
// results; "" is the result of a project that never ran.
func lastUp(t *testing.T, results map[string]event.Result) *session.Session {
	t.Helper()
	kind, err := providers.ByName("kind")
	if err != nil {
		t.Fatal(err)
	}
	s := session.New(session.Deps{}, session.Options{})
	s.Provider, s.Directory, s.Settings = kind, layout.Of(t.TempDir(), false), config.Settings{
		Stack: config.Value{Text: "dev"},
	}
	if s.Plan, err = plan.New(kind); err != nil {
		t.Fatal(err)
	}
	meta := journal.Meta{Environment: s.Environment(), Fingerprint: configurationOf(s)}
	cmdtest.WriteUp(t, s.Directory.Runs(), meta, s.Plan, results)
	return s
}

// isCurrent reports no changes of any project.
func isCurrent(plan.Step) []string { return nil }

// TestResumeRunsWhatHasChanged: a project that is done runs again where its program has changed, and so may
// the readers of its outputs, and a run of another rollout is not resumed.
func TestResumeRunsWhatHasChanged(t *testing.T) {
	t.Parallel()
	s := lastUp(t, map[string]event.Result{
		"kind-cluster": event.Succeeded, "kubeconfig": event.Succeeded, "certmgr": event.Succeeded,
		"prometheus": event.Failed,
	})
	o := operateOptions{Selection: selectionOptions{Resume: true}}
	o.Operation = operation.Up
	w := work{plan: s.Plan}
	changed := func(step plan.Step) []string {
		if step.Project.Name == "kubeconfig" {
			return []string{"program"}
		}
		return nil
	}
	if err := limitToRest(s, &w, o, changed); err != nil {
		t.Fatal(err)
	}
	if got := w.plan.Names(); !slices.Equal(got, []string{"kubeconfig", "certmgr", "prometheus"}) {
		t.Errorf("it resumes %v", got)
	}
	if !slices.Contains(w.done, "certmgr") || len(s.Warnings) != 1 ||
		!strings.Contains(s.Warnings[0], ": kubeconfig (program)") {
		t.Errorf("done %v, warnings %q", w.done, s.Warnings)
	}
	o.Operation = operation.Preview
	if got := left(
		s.Plan, journal.Resumption{Projects: s.Plan.Names(), Succeeded: s.Plan.Names()}, operation.Preview,
		(*unchanged)(nil).changedSince,
	); len(got) != len(s.Plan.Steps) {
		t.Errorf("a preview resumes %v", got)
	}
	o.Operation, o.part = operation.Up, &part{resumes: []string{"another"}}
	w = work{plan: s.Plan}
	if err := limitToRest(s, &w, o, isCurrent); err != nil || len(w.plan.Steps) != len(s.Plan.Steps) || w.resumes != "" {
		t.Errorf("of another rollout it resumes %v, %v", w.plan.Names(), err)
	}
}

// TestResumeHasTheSelectionOfItsRun: projects that the run skipped are skipped again, and
// do not count as done.
func TestResumeHasTheSelectionOfItsRun(t *testing.T) {
	t.Parallel()
	s := lastUp(t, map[string]event.Result{"kind-cluster": event.Succeeded, "kubeconfig": event.Failed, "certmgr": ""})
	o := operateOptions{Selection: selectionOptions{Resume: true}}
	o.Operation = operation.Up
	w := work{plan: s.Plan}
	if err := limitToRest(s, &w, o, isCurrent); err != nil {
		t.Fatal(err)
	}
	if got := w.plan.Names(); !slices.Equal(got, []string{"kubeconfig", "certmgr"}) {
		t.Errorf("it resumes with %v", got)
	}
	reasons := map[string]string{}
	for _, excluded := range w.plan.Excluded {
		reasons[excluded.Step.Project.Name], _, _ = strings.Cut(excluded.Reason, " run ")
	}
	if reasons["kind-cluster"] != "done in" || reasons["prometheus"] != "not selected in" {
		t.Errorf("the others are skipped because of %v", reasons)
	}
	if got := o.selectRest(s).Only; !slices.Equal(got, []string{"kubeconfig", "certmgr"}) {
		t.Errorf("before that, it looks at %v", got)
	}
	o.Selection.Skip = []string{"certmgr"}
	if got := o.selectRest(s).Only; !slices.Equal(got, []string{"kubeconfig"}) {
		t.Errorf("with --skip, it looks at %v", got)
	}
	o.Selection = selectionOptions{Failed: true}
	if got := o.selectRest(s).Only; !slices.Equal(got, []string{"kubeconfig"}) {
		t.Errorf("with --failed, it looks at %v", got)
	}
}

// TestResumeComparesWhatItCallsDone: a project that the command line skips is not recorded as done, for it was not
// compared with its last success.
func TestResumeComparesWhatItCallsDone(t *testing.T) {
	t.Parallel()
	s := lastUp(
		t, map[string]event.Result{"kind-cluster": event.Succeeded, "kubeconfig": event.Succeeded, "certmgr": event.Failed},
	)
	o := operateOptions{Selection: selectionOptions{Resume: true}}
	o.Operation = operation.Up
	selected, err := plan.Select(s.Plan, plan.Selection{Skip: []string{"kubeconfig"}})
	if err != nil {
		t.Fatal(err)
	}
	w := work{plan: selected}
	changed := func(step plan.Step) []string {
		if step.Project.Name == "kubeconfig" {
			return []string{"program"}
		}
		return nil
	}
	if err := limitToRest(s, &w, o, changed); err != nil || !slices.Equal(w.done, []string{"kind-cluster"}) {
		t.Errorf("it records %v as done, %v", w.done, err)
	}
}

// TestResumeOfARunThatIsDone looks at nothing, and says so.
func TestResumeOfARunThatIsDone(t *testing.T) {
	t.Parallel()
	s := lastUp(t, map[string]event.Result{"kind-cluster": event.Succeeded})
	o := operateOptions{Selection: selectionOptions{Resume: true}}
	o.Operation = operation.Up
	if selected, err := plan.Select(s.Plan, o.selectRest(s)); err == nil {
		t.Errorf("it looks at %v", selected.Names())
	}
	w := work{plan: s.Plan}
	if err := limitToRest(s, &w, o, isCurrent); err != nil || len(w.plan.Steps) > 0 {
		t.Errorf("it resumes with %v, %v", w.plan.Names(), err)
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
		s := lastUp(t, test.results)
		o := operateOptions{Selection: selectionOptions{Failed: true}}
		o.Operation = operation.Up
		err := limitToRest(s, &work{plan: s.Plan}, o, isCurrent)
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
