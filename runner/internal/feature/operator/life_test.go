package operator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"mara/providers"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/feature/operator"
	"mara/runner/internal/testing/pkotest"
)

const (
	took   = 2 * time.Minute // by each update of the model
	within = 2 * time.Hour
)

// exported returns the Stacks of a built-in environment. Its programs come from git, so that
// there are commits: the built-in ones of an image have none.
func exported(t *testing.T, provider string) []operator.Stack {
	t.Helper()
	p, err := providers.ByName(provider)
	if err != nil {
		t.Fatal(err)
	}
	order, err := plan.New(p)
	if err != nil {
		t.Fatal(err)
	}
	x, err := operator.Export(operator.Environment{Name: "dev", Organization: "organization", Plan: order}, operator.Options{
		Namespace: "pulumi", Image: "image", Backend: "s3://state", Within: within, Destroy: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Stacks {
		x.Stacks[i].Spec.ProjectRepo, x.Stacks[i].Spec.Branch = "https://example.com/infra", "main"
	}
	return x.Stacks
}

// pass lets so much time pass that everything can run one after the other.
func pass(o *pkotest.Operator, stacks []operator.Stack) []string {
	o.Pass(took * time.Duration(len(stacks)+1))
	return o.Log()
}

// outOfOrder lists the Stacks that started before a prerequisite had succeeded.
func outOfOrder(stacks []operator.Stack, log []string, kind string) []string {
	var wrong []string
	for _, s := range stacks {
		started := slices.Index(log, s.Metadata.Name+" "+kind+" starts")
		for _, need := range s.Spec.Needs {
			if done := slices.Index(log, need.Name+" "+kind+" succeeds"); started >= 0 && (done < 0 || done > started) {
				wrong = append(wrong, s.Metadata.Name+" before "+need.Name)
			}
		}
	}
	return wrong
}

// counted returns how often something happened.
func counted(log []string, what string) int {
	n := 0
	for _, line := range log {
		if strings.HasSuffix(line, " "+what) {
			n++
		}
	}
	return n
}

// TestCreation: Stacks wait for those before them when they are created, in whatever
// order they are applied.
func TestCreation(t *testing.T) {
	t.Parallel()
	for _, provider := range providers.Names() {
		stacks := exported(t, provider)
		o := pkotest.New(took)
		backwards := slices.Clone(stacks)
		slices.Reverse(backwards)
		o.Apply(backwards...)
		log := pass(o, stacks)
		if wrong := outOfOrder(stacks, log, "up"); len(wrong) > 0 || counted(log, "up succeeds") != len(stacks) {
			t.Errorf("%s: %q, %q", provider, wrong, log)
		}
	}
}

// TestNewCommit: the operator orders a new commit only where the last success is older
// than the duration, which README.md says.
func TestNewCommit(t *testing.T) {
	t.Parallel()
	stacks := exported(t, "aws")
	o := pkotest.New(took)
	o.Apply(stacks...)
	pass(o, stacks)
	o.Commit("two")
	if wrong := outOfOrder(stacks, pass(o, stacks), "up"); len(wrong) == 0 {
		t.Error("a commit right after the last one is in order: README.md says that it is not")
	}
	o.Pass(2 * within)
	o.Log()
	o.Commit("three")
	log := pass(o, stacks)
	if wrong := outOfOrder(stacks, log, "up"); len(wrong) > 0 || counted(log, "up succeeds") < len(stacks) {
		t.Errorf("a commit later on: %q, %q", wrong, log)
	}
}

// TestDurationTooShort: with one that is shorter than the chain takes, Stacks ask
// one another to run without end. Export refuses that.
func TestDurationTooShort(t *testing.T) {
	t.Parallel()
	stacks := exported(t, "aws")
	for i := range stacks {
		for j := range stacks[i].Spec.Needs {
			stacks[i].Spec.Needs[j].Requirement.SucceededWithinDuration = (took / 2).String()
		}
	}
	o := pkotest.New(took)
	o.Apply(stacks...)
	pass(o, stacks)
	o.Pass(2 * time.Hour)
	if log := o.Log(); counted(log, "up starts") < 2*len(stacks) {
		t.Errorf("%d updates in two hours", counted(log, "up starts"))
	}
}

// TestFailure: what needs a failed Stack waits; after the last retry it is stalled, and
// a new commit continues.
func TestFailure(t *testing.T) {
	t.Parallel()
	stacks := exported(t, "aws")
	o := pkotest.New(took)
	o.Fail("dev-aws-eks", 4)
	o.Apply(stacks...)
	log := pass(o, stacks)
	if counted(log, "up fails") != 4 || slices.Contains(log, "dev-kubeconfig up starts") || !slices.Contains(log, "dev-aws-ecr up succeeds") {
		t.Errorf("log %q", log)
	}
	w, seen := watch(t, o)
	var stalled *operator.StalledError
	if err := w.Wait(t.Context()); !errors.As(err, &stalled) || len(stalled.Stacks) != 1 || stalled.Stacks[0].Name != "dev-aws-eks" || !strings.Contains(err.Error(), "UpdateFailed: up failed 3 times") {
		t.Errorf("error %v", err)
	}
	if !slices.ContainsFunc(*seen, func(s operator.State) bool { return s.Name == "dev-kubeconfig" && s.Phase == operator.Waiting }) {
		t.Errorf("seen %v", *seen)
	}
	o.Commit("two")
	o.Pass(time.Minute) // until the operator has seen it
	if err := w.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if log := o.Log(); counted(log, "up succeeds") < len(stacks)-1 {
		t.Errorf("log %q", log)
	}
}

// TestWaitForCommit: until the operator has seen a new commit, Stacks are what the last
// one has made of them.
func TestWaitForCommit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		failures int
	}{{"after a failure", 4}, {"after a success", 0}} {
		stacks := exported(t, "aws")
		o := pkotest.New(took)
		o.Fail("dev-aws-vpc", test.failures)
		o.Apply(stacks...)
		pass(o, stacks)
		o.Commit("two")
		w, seen := watch(t, o)
		w.Commit = "two"
		if err := w.Wait(t.Context()); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if log := o.Log(); counted(log, "up succeeds") != len(stacks) {
			t.Errorf("%s: it did not wait for all: %q", test.name, log)
		}
		if !slices.ContainsFunc(*seen, func(s operator.State) bool { return s.Cause == "the commit two has not been tried" }) {
			t.Errorf("%s: seen %v", test.name, *seen)
		}
	}
}

// TestRefusedSpec: the operator looks at a new Stack that it refuses only once, and
// notes no generation then.
func TestRefusedSpec(t *testing.T) {
	t.Parallel()
	stacks := exported(t, "aws")
	o := pkotest.New(took)
	o.Refuse("dev-aws-vpc", true)
	o.Apply(stacks...)
	pass(o, stacks)
	w, _ := watch(t, o)
	if err := w.Wait(t.Context()); err == nil || err.Error() != "dev-aws-vpc is stalled: SpecInvalid: invalid URL scheme" {
		t.Fatalf("error %v", err)
	}
	o.Refuse("dev-aws-vpc", false)
	for i := range stacks {
		stacks[i].Spec.Refresh = true
	}
	o.Apply(stacks...)
	if err := w.Wait(t.Context()); err != nil {
		t.Errorf("mended: %v", err)
	}
}

// TestRequest: a Stack that was asked to run once more is not what it was before.
func TestRequest(t *testing.T) {
	t.Parallel()
	stacks := exported(t, "aws")
	o := pkotest.New(took)
	o.Apply(stacks...)
	pass(o, stacks)
	o.Request("dev-aws-vpc", "again")
	w, seen := watch(t, o)
	if err := w.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(*seen, func(s operator.State) bool { return s.Name == "dev-aws-vpc" && s.Phase == operator.Unseen }) {
		t.Errorf("seen %v", *seen)
	}
}

// destroyedEarly lists the Stacks whose destruction started while a dependent still existed.
func destroyedEarly(stacks []operator.Stack, log []string) []string {
	var wrong []string
	for _, s := range stacks {
		gone := slices.Index(log, s.Metadata.Name+" gone")
		for _, need := range s.Spec.Needs {
			if started := slices.Index(log, need.Name+" destroy starts"); started >= 0 && (gone < 0 || gone > started) {
				wrong = append(wrong, need.Name+" before "+s.Metadata.Name)
			}
		}
	}
	return wrong
}

// TestDestroy: the operator destroys in no order; Delete has one.
func TestDestroy(t *testing.T) {
	t.Parallel()
	for _, provider := range providers.Names() {
		stacks := exported(t, provider)
		names := make([]string, len(stacks))
		for i, s := range stacks {
			names[i] = s.Metadata.Name
		}
		o := pkotest.New(took)
		o.Apply(stacks...)
		pass(o, stacks)
		o.Delete(names...)
		if wrong := destroyedEarly(stacks, pass(o, stacks)); len(wrong) == 0 {
			t.Error("deleting all at once is in order: README.md says that it is not")
		}
		o = pkotest.New(took)
		o.Apply(stacks...)
		pass(o, stacks)
		w, seen := watch(t, o)
		if err := w.Delete(t.Context()); err != nil {
			t.Fatal(err)
		}
		log := o.Log()
		if wrong := destroyedEarly(stacks, log); len(wrong) > 0 || counted(log, "gone") != len(stacks) {
			t.Errorf("%s: %q, %q", provider, wrong, log)
		}
		gone := slices.DeleteFunc(*seen, func(s operator.State) bool { return s.Phase != "gone" })
		if len(gone) != len(stacks) {
			t.Errorf("%s: saw %d gone", provider, len(gone))
		}
	}
}

// TestDestroyThatFails: what a Stack needs stays while it cannot be destroyed.
func TestDestroyThatFails(t *testing.T) {
	t.Parallel()
	stacks := exported(t, "aws")
	o := pkotest.New(took)
	o.Apply(stacks...)
	pass(o, stacks)
	o.Fail("dev-certmgr", 4)
	w, _ := watch(t, o)
	var stalled *operator.StalledError
	if err := w.Delete(t.Context()); !errors.As(err, &stalled) || stalled.Stacks[0].Name != "dev-certmgr" {
		t.Fatalf("error %v", err)
	}
	log := o.Log()
	if slices.Contains(log, "dev-kubeconfig destroy starts") || !slices.Contains(log, "dev-bank-of-anthos gone") {
		t.Errorf("log %q", log)
	}
}

// TestAdoption: nothing runs but previews until all have found nothing to change; and
// back again without a destroy.
func TestAdoption(t *testing.T) {
	t.Parallel()
	stacks := exported(t, "aws")
	for i := range stacks {
		stacks[i].Spec.Preview = true
		stacks[i].Spec.UpdateTemplate.Spec["expectNoChanges"] = true
	}
	o := pkotest.New(took)
	o.Apply(stacks...)
	o.Fail("dev-prometheus", 1)
	w, _ := watch(t, o)
	if err := w.Adopt(t.Context()); err == nil || !strings.Contains(err.Error(), "dev-prometheus is stalled: PreviewFailed") {
		t.Fatalf("error %v", err)
	}
	if log := o.Log(); counted(log, "up starts") > 0 {
		t.Fatalf("something was changed: %q", log)
	}
	o.Commit("mended")
	o.Pass(time.Minute)
	if err := w.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	log := o.Log()
	if ups := counted(log, "up succeeds"); ups != len(stacks) || slices.IndexFunc(log, func(line string) bool { return strings.HasSuffix(line, "up starts") }) < slices.Index(log, "dev-bank-of-anthos preview succeeds") {
		t.Errorf("%d ups: %q", ups, log)
	}
	if err := w.Adopt(t.Context()); err == nil || !strings.Contains(err.Error(), "runs updates, so its changes cannot be previewed first") {
		t.Errorf("a second time: error %v", err)
	}
	if err := w.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if log := o.Log(); counted(log, "destroy starts") > 0 || counted(log, "gone") != len(stacks) {
		t.Errorf("log %q", log)
	}
	if err := w.Release(t.Context()); !errors.Is(err, operator.ErrNoStacks) {
		t.Errorf("error %v", err)
	}
}

// watch looks at the model through an API server. No time passes but the model's.
func watch(t *testing.T, o *pkotest.Operator) (operator.Watcher, *[]operator.State) {
	t.Helper()
	cluster, err := operator.Connect([]byte(o.Serve(t, "pulumi", took)), nil, "pulumi", "dev")
	if err != nil {
		t.Fatal(err)
	}
	seen, looks := &[]operator.State{}, 0
	return operator.Watcher{Cluster: cluster, Tell: func(s operator.State) { *seen = append(*seen, s) }, Sleep: func(ctx context.Context, _ time.Duration) error {
		if looks++; looks > 1000 {
			return errors.New("waits without end")
		}
		return context.Cause(ctx)
	}}, seen
}
