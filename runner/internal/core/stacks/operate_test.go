package stacks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
)

// summed returns the engine's last event.
func summed(changes map[apitype.OpType]int) apitype.EngineEvent {
	return apitype.EngineEvent{SummaryEvent: &apitype.SummaryEvent{ResourceChanges: changes}}
}

// readStack returns the event of a program that reads another stack.
func readStack(name string) apitype.EngineEvent {
	return apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: apitype.StepEventMetadata{
		Op: apitype.OpRead, Type: referenceType, URN: "urn:pulumi:dev::x::" + referenceType + "::" + name,
		New: &apitype.StepEventStateMetadata{Inputs: map[string]any{"name": name}},
	}}}
}

// TestOneCommandForEachOperation: around an operation the Automation API asks
// five questions more, which cost more than the operation itself.
func TestOneCommandForEachOperation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		operation operation.Operation
		command   string
		want      event.Changes
	}{
		{operation.Up, "up --yes --skip-preview", event.Changes{Create: 3, Update: 2, Same: 4}},
		{operation.Preview, "preview", event.Changes{Create: 3, Update: 2, Same: 4}},
		{operation.Refresh, "refresh", event.Changes{Create: 3, Update: 2, Same: 4}},
		{operation.Destroy, "destroy", event.Changes{Create: 3, Update: 2, Same: 4}},
	} {
		t.Run(string(test.operation), func(t *testing.T) {
			t.Parallel()
			changes := map[apitype.OpType]int{apitype.OpCreate: 2, apitype.OpImport: 1, apitype.OpUpdate: 2, apitype.OpSame: 4}
			e := open(t, []string{"vpc"}, call{
				args: test.command, events: []apitype.EngineEvent{summed(changes)},
				check: func(_ string, env, args []string) {
					if got := flag(args, "--stack"); got != "organization/vpc/dev" {
						t.Errorf("the stack is %q", got)
					}
					if line := strings.Join(args, " "); strings.Contains(line, "--show-secrets") && !strings.Contains(line, "--show-secrets=false") {
						t.Errorf("secrets would be shown: %s", line)
					}
					// Not every container knows the name localhost.
					if address := flag(args, "--event-log"); !strings.HasPrefix(address, "tcp://127.0.0.1:") {
						t.Errorf("events go to %q", address)
					}
				},
			})
			outcome, err := e.Operate(t.Context(), Task{Operation: test.operation, Step: step("vpc")}, func(event.Event) {})
			if diff := cmp.Diff(test.want, outcome.Changes); diff != "" || err != nil || outcome.Skipped != "" {
				t.Errorf("%v, skipped %q: %s", err, outcome.Skipped, diff)
			}
		})
	}
}

func TestMissingStacksAreCreatedAndNotSelected(t *testing.T) {
	t.Parallel()
	const stackFile = "secretsprovider: awskms://alias/x\nconfig:\n  a:b: c\n"
	fake := newFake(t,
		call{args: "stack init --no-select --secrets-provider awskms://alias/x --stack organization/vpc/dev", check: func(dir string, _, _ []string) {
			checkWorkingCopy(t, dir, "vpc", stackFile)
		}},
		call{args: "up", events: []apitype.EngineEvent{summed(nil)}},
		call{args: "up", events: []apitype.EngineEvent{summed(nil)}},
		call{args: "destroy", events: []apitype.EngineEvent{summed(nil)}},
	)
	e := openWith(t, fake, func(o *Options) { o.Empty, o.StackFile = true, []byte(stackFile) })
	for _, op := range []operation.Operation{operation.Up, operation.Up, operation.Destroy} {
		if _, err := e.Operate(t.Context(), Task{Operation: op, Step: step("vpc")}, func(event.Event) {}); err != nil {
			t.Fatal(err)
		}
	}
	if s := e.Summary("vpc"); !s.Exists || s.Resources != 0 {
		t.Errorf("after all that the summary is %+v", s)
	}
}

// TestStackCreatedMeanwhile: the listing of the stacks may be older than a stack.
func TestStackCreatedMeanwhile(t *testing.T) {
	t.Parallel()
	fake := newFake(t,
		call{args: "stack init", stderr: "error: stack 'organization/vpc/dev' already exists", err: failed()},
		call{args: "up", events: []apitype.EngineEvent{summed(nil)}},
	)
	e := openWith(t, fake, func(o *Options) { o.Empty = true })
	if _, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, func(event.Event) {}); err != nil {
		t.Error(err)
	}
}

func checkWorkingCopy(t *testing.T, dir, project, stackFile string) {
	t.Helper()
	var settings struct{ Name, Runtime string }
	content, err := os.ReadFile(filepath.Join(dir, "Pulumi.yaml"))
	if err == nil {
		err = json.Unmarshal(content, &settings)
	}
	if err != nil || settings.Name != project || settings.Runtime != model.Runtime {
		t.Errorf("Pulumi.yaml: %v, %s", err, content)
	}
	content, err = os.ReadFile(filepath.Join(dir, "Pulumi.dev.yaml"))
	if err != nil || string(content) != stackFile {
		t.Errorf("Pulumi.dev.yaml: %v, %s", err, content)
	}
	info, err := os.Stat(filepath.Join(dir, "Pulumi.dev.yaml"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("Pulumi.dev.yaml: %v, %v", err, info.Mode())
	}
}

func TestTheSecretsProjectHasItsOwnStackFile(t *testing.T) {
	t.Parallel()
	e := openWith(t, newFake(t), func(o *Options) {
		o.Empty, o.StackFile, o.SecretsFile = true, []byte("# shared\n"), []byte("# secrets\n")
	})
	for project, content := range map[string]string{"secrets": "# secrets\n", "vpc": "# shared\n"} {
		dir, err := e.workingCopy(project)
		if err != nil {
			t.Fatal(err)
		}
		checkWorkingCopy(t, dir, project, content)
	}
}

// TestWorkingCopyIsMadeAgain when it was left half-made.
func TestWorkingCopyIsMadeAgain(t *testing.T) {
	t.Parallel()
	e := openWith(t, newFake(t), func(o *Options) { o.Empty = true })
	obstacle := filepath.Join(e.options.WorkDir, "vpc", "Pulumi.dev.yaml")
	if err := os.MkdirAll(obstacle, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := e.workingCopy("vpc"); err == nil {
		t.Error("a working copy without a stack file is no error")
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	dir, err := e.workingCopy("vpc")
	if err != nil {
		t.Fatal(err)
	}
	checkWorkingCopy(t, dir, "vpc", "config: {}\n")
}

func TestWhereNothingIsNothingIsDone(t *testing.T) {
	t.Parallel()
	fake := newFake(t, call{args: "stack ls", stdout: `[{"name":"organization/empty/dev","resourceCount":0},{"name":"organization/created/dev"}]`})
	e := openWith(t, fake, nil)
	for _, op := range []operation.Operation{operation.Refresh, operation.Destroy} {
		for project, want := range map[string]string{"missing": "never deployed", "empty": "nothing deployed", "created": "nothing deployed"} {
			outcome, err := e.Operate(t.Context(), Task{Operation: op, Step: step(project)}, func(event.Event) {})
			if outcome.Skipped != want || err != nil {
				t.Errorf("%s of %s: %q, %v; want %q", op, project, outcome.Skipped, err, want)
			}
		}
	}
}

// TestProjectsOfTheirOwn run in their directory, with the stack file of the working
// copy; everything else that is done to their stacks stays out of it.
func TestProjectsOfTheirOwn(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	var work string
	inDir := func(dir string, _, args []string) {
		if dir != directory || !slices.Contains(args, "--config-file="+filepath.Join(work, "own", "Pulumi.dev.yaml")) {
			t.Errorf("ran in %s: %v", dir, args)
		}
	}
	inCopy := func(dir string, _, _ []string) {
		if dir != filepath.Join(work, "own") {
			t.Errorf("ran in %s", dir)
		}
	}
	up := apitype.EngineEvent{SummaryEvent: &apitype.SummaryEvent{}}
	e := openWith(t, newFake(t,
		call{args: "stack init --no-select --stack organization/own/dev", check: inCopy},
		call{args: "up", events: []apitype.EngineEvent{up}, check: inDir},
		call{args: "stack export", stdout: "{}", check: inCopy},
	), func(o *Options) {
		work, o.Empty = o.WorkDir, true
		o.Directories = map[string]Directory{"own": {Path: directory}}
	})
	if _, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("own")}, func(event.Event) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Export(t.Context(), "own"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
		t.Errorf("the runner wrote into the project's directory: %v, %v", left, err)
	}
}

// TestReferencesAreCompared with the declared edges after up and preview.
func TestReferencesAreCompared(t *testing.T) {
	t.Parallel()
	const (
		missing = "run.warning the plan declares that it reads vpc, but it did not"
		extra   = "run.warning it reads ecr, which the plan does not declare; a parallel run may start it too early"
	)
	for _, test := range []struct {
		name      string
		operation operation.Operation
		step      plan.Step
		read      []string
		want      []string
	}{
		{"as declared", operation.Up, step("eks", "vpc"), []string{"organization/vpc/dev"}, nil},
		{"twice", operation.Up, step("eks", "vpc"), []string{"organization/vpc/dev", "organization/vpc/dev"}, nil},
		{"none", operation.Up, step("eks"), nil, nil},
		{"not read", operation.Up, step("eks", "vpc"), nil, []string{missing}},
		{"not declared", operation.Preview, step("eks", "vpc"), []string{"organization/vpc/dev", "organization/ecr/dev"}, []string{extra}},
		{"only waited for", operation.Up, plan.Step{Project: step("eks").Project, Needs: needs.Needs{After: []string{"ecr"}}}, []string{"organization/ecr/dev"}, []string{extra}},
		{"of other environments", operation.Up, step("eks"), []string{"organization/vpc/prod", "acme/dns/dev", "organization/a/b/dev"}, nil},
		{"not at a refresh", operation.Refresh, step("eks", "vpc"), nil, nil},
		{"not at a destroy", operation.Destroy, step("eks", "vpc"), nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			events := []apitype.EngineEvent{summed(nil)}
			for _, name := range test.read {
				events = append(events, readStack(name))
			}
			e := open(t, []string{"eks"}, call{args: string(test.operation), events: events})
			var got record
			if _, err := e.Operate(t.Context(), Task{Operation: test.operation, Step: test.step}, got.emit); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.lines); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFailureBeforeAnyEvent: the Automation API never closes the channel when
// the command fails before it has connected. Nothing waits for it, not even
// briefly.
func TestFailureBeforeAnyEvent(t *testing.T) {
	t.Parallel()
	for _, op := range []operation.Operation{operation.Up, operation.Preview, operation.Refresh, operation.Destroy} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			e := open(t, []string{"vpc"}, call{args: string(op), stderr: "error: no such backend\n", err: failed()})
			began := time.Now()
			outcome, err := e.Operate(t.Context(), Task{Operation: op, Step: step("vpc")}, func(event.Event) {})
			if err == nil || err.Error() != "no such backend" || outcome.Changes.Any() {
				t.Errorf("got %+v, %v", outcome, err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s to fail", took)
			}
		})
	}
}

// TestSuccessWithoutEvents: an operation without events is not reported as one
// without changes, and does not wait for events that never come.
func TestSuccessWithoutEvents(t *testing.T) {
	t.Parallel()
	for op, command := range map[operation.Operation]string{
		operation.Up: "up", operation.Preview: "preview", operation.Refresh: "refresh", operation.Drift: "refresh", operation.Destroy: "destroy",
	} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			e := open(t, []string{"vpc"}, call{args: command, stderr: "error: no route\n"})
			e.patience = 0
			if _, err := e.Operate(t.Context(), Task{Operation: op, Step: step("vpc")}, func(event.Event) {}); err == nil || err.Error() != errSilent.Error() {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestPolicyPacks: Pulumi gets the policy packs, and their findings are passed on.
func TestPolicyPacks(t *testing.T) {
	t.Parallel()
	found := func(level apitype.EnforcementLevel, message string) apitype.EngineEvent {
		return apitype.EngineEvent{PolicyEvent: &apitype.PolicyEvent{
			ResourceURN: "urn:pulumi:dev::vpc::aws:ec2/vpc:Vpc::main", Message: message, PolicyName: "tags", PolicyPackName: "ours", EnforcementLevel: string(level),
		}}
	}
	e := open(t, []string{"vpc"}, call{
		args: "preview", stderr: "error: preview failed\n", err: failed(),
		events: []apitype.EngineEvent{found(apitype.Advisory, "a tag is <{%bold%}>missing<{%reset%}>"), found(apitype.Mandatory, "an owner is missing")},
		check: func(_ string, _, args []string) {
			if !slices.Contains(args, "--policy-pack=/packs/ours") {
				t.Errorf("called with %v", args)
			}
		},
	})
	var got []string
	_, err := e.Operate(t.Context(), Task{Operation: operation.Preview, Step: step("vpc"), PolicyPacks: []string{"/packs/ours"}}, func(ev event.Event) {
		got = append(got, fmt.Sprintf("%s %s %s of %s %s: %s", ev.Finding.Level, ev.Finding.Rule, ev.Finding.Resource.Name, ev.Finding.Project, ev.Finding.Message, ev.Message))
	})
	if diff := cmp.Diff([]string{"warn ours/tags main of vpc a tag is missing: policy tags of ours: a tag is missing",
		"deny ours/tags main of vpc an owner is missing: policy tags of ours: an owner is missing"}, got); diff != "" {
		t.Error(diff)
	}
	if err == nil || err.Error() != "policy tags of ours: an owner is missing" {
		t.Errorf("error %v", err)
	}
}

// TestChangesOfAnEngineThatWasKilled: what was done until then counts.
func TestChangesOfAnEngineThatWasKilled(t *testing.T) {
	t.Parallel()
	done := func(op apitype.OpType, kind, name string) apitype.EngineEvent {
		return apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: metadata(op, kind, name)}}
	}
	e := open(t, []string{"vpc"}, call{args: "up", err: errors.New("the engine process ended in the middle of the operation: signal: killed"), events: []apitype.EngineEvent{
		done(apitype.OpSame, "aws:ec2/vpc:Vpc", "main"),
		done(apitype.OpCreate, "aws:ec2/subnet:Subnet", "a"),
		done(apitype.OpCreate, "aws:ec2/subnet:Subnet", "b"),
	}})
	outcome, err := e.Operate(t.Context(), Task{Operation: operation.Up, Step: step("vpc")}, func(event.Event) {})
	if diff := cmp.Diff(event.Changes{Create: 2, Same: 1}, outcome.Changes); diff != "" {
		t.Error(diff)
	}
	if err == nil || !strings.Contains(err.Error(), "the engine process ended in the middle of the operation") {
		t.Errorf("got %v", err)
	}
}

// TestPlugins has Pulumi's own code find the provider of a working copy.
func TestPlugins(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	e := openWith(t, newFake(t), func(o *Options) { o.Empty, o.Plugins = true, map[string]string{"kind": directory} })
	dir, err := e.workingCopy("kind-cluster")
	if err != nil {
		t.Fatal(err)
	}
	project, err := workspace.LoadProject(filepath.Join(dir, "Pulumi.yaml"))
	if err != nil || project.Plugins == nil || len(project.Plugins.Providers) != 1 {
		t.Fatalf("%v: %+v", err, project)
	}
	if p := project.Plugins.Providers[0]; p.Name != "kind" || p.Path != directory {
		t.Errorf("the plugin is %+v", p)
	}
}

// TestCancelledIsNeverDone: a Pulumi that is cancelled between two resources
// calls it a success.
func TestCancelledIsNeverDone(t *testing.T) {
	t.Parallel()
	for _, op := range []operation.Operation{operation.Up, operation.Refresh, operation.Destroy} {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the user has had enough")
		e := open(t, []string{"vpc"}, call{args: string(op), check: func(string, []string, []string) { cancel(why) }})
		if _, err := e.Operate(ctx, Task{Operation: op, Step: step("vpc")}, func(event.Event) {}); !errors.Is(err, why) {
			t.Errorf("%s: got %v, want what cancelled it", op, err)
		}
		if e.Summary("vpc").Resources == 0 {
			t.Errorf("%s: the project counts as empty", op)
		}
	}
}
