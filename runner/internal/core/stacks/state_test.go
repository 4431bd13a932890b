package stacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/statefiles"
)

const (
	roleURN   = "urn:pulumi:dev::vpc::aws:iam/role:Role::nodes"
	secretURN = "urn:pulumi:dev::vpc::kubernetes:core/v1:Secret::token"
)

// exported is a state in which the creation of a role was cut off.
const exported = `{"version":3,"deployment":{"manifest":{"time":"2026"},"resources":[
  {"urn":"urn:pulumi:dev::vpc::pulumi:pulumi:Stack::vpc-dev","type":"pulumi:pulumi:Stack"},
  {"urn":"urn:pulumi:dev::vpc::pulumi:providers:aws::default","type":"pulumi:providers:aws","id":"1"},
  {"urn":"` + secretURN + `","type":"kubernetes:core/v1:Secret","id":"a/token","inputs":{"big":12345678901234567890}}],
  "pending_operations":[
  {"type":"creating","resource":{"urn":"` + roleURN + `","type":"aws:iam/role:Role","inputs":{"path":"/"}}},
  {"type":"updating","resource":{"urn":"` + secretURN + `","type":"kubernetes:core/v1:Secret","id":"a/token"}}]}}`

func TestPending(t *testing.T) {
	t.Parallel()
	want := []Pending{
		{Project: "vpc", URN: roleURN, Resource: "aws:iam/role:Role nodes", Action: "creating"},
		{Project: "vpc", URN: secretURN, Resource: "kubernetes:core/v1:Secret token", Action: "updating"},
	}
	e := open(t, []string{"vpc"}, call{args: "stack export --stack organization/vpc/dev", stdout: exported})
	asked, err := e.Pending(t.Context(), "vpc")
	if diff := cmp.Diff(want, asked); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if !want[0].Blocks() || want[1].Blocks() {
		t.Error("what was being created blocks, what was being updated does not")
	}
	for _, test := range []struct {
		resource, action string
		blocks, lingers  bool
	}{
		{"pulumi:providers:aws default", "creating", false, true},
		{"pulumi:pulumi:StackReference vpc", "reading", false, false},
		{"aws:iam/role:Role nodes", "importing", true, false},
		{"aws:iam/role:Role nodes", "deleting", false, false},
	} {
		p := Pending{Resource: test.resource, Action: test.action}
		if p.Blocks() != test.blocks || p.Lingers() != test.lingers {
			t.Errorf("%s: blocks %t, lingers %t", p, p.Blocks(), p.Lingers())
		}
	}
	if got := want[0].String(); got != "aws:iam/role:Role nodes (creating)" {
		t.Errorf("it reads %q", got)
	}

	directory := t.TempDir()
	file := filepath.Join(directory, ".pulumi/stacks/vpc/dev.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	stored := `{"version":3,"checkpoint":{"latest":` + exported[len(`{"version":3,"deployment":`):]
	for _, test := range []struct {
		name, content string
		want          []Pending
		wrong         bool
	}{
		{"no file", "", nil, false},
		{"cut off", stored + "}", want, false},
		{"in order", `{"checkpoint":{"latest":{"resources":[]}}}`, nil, false},
		{"broken", `{"checkpoint":{"latest":{"pending_operations":[`, nil, true},
	} {
		if test.content != "" {
			if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		read, err := openIn(t, directory).Pending(t.Context(), "vpc")
		if diff := cmp.Diff(test.want, read); diff != "" || (err != nil) != test.wrong {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
	}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	fake := newFake(t,
		call{args: "stack ls --all --json", stdout: listing("organization/vpc/dev")},
		call{args: "stack export --stack organization/vpc/dev", stdout: exported},
		call{args: "stack import --stack organization/vpc/dev"})
	e := openWith(t, fake, nil)
	if err := e.Adopt(t.Context(), "vpc", map[string]string{roleURN: "the-role", secretURN: "not cut off while it was created"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fake.input, "12345678901234567890") {
		t.Errorf("a big number is not as it was: %s", fake.input)
	}
	var state struct{ Deployment deployment }
	if err := json.Unmarshal([]byte(fake.input), &state); err != nil {
		t.Fatal(err)
	}
	last := state.Deployment.Resources[3]
	if last.URN != roleURN || last.ID != "the-role" {
		t.Errorf("the last resource is %+v", last)
	}
	if left := state.Deployment.pending("vpc"); len(left) != 1 || left[0].Action != "updating" {
		t.Errorf("still cut off: %v", left)
	}
}

func TestAdoptForgetsWhatHasNoID(t *testing.T) {
	t.Parallel()
	content, err := adopt([]byte(exported), map[string]string{roleURN: ""})
	if err != nil {
		t.Fatal(err)
	}
	var state struct{ Deployment deployment }
	if err := json.Unmarshal(content, &state); err != nil {
		t.Fatal(err)
	}
	if left := state.Deployment.pending("vpc"); len(state.Deployment.Resources) != 3 || len(left) != 1 || left[0].URN != secretURN {
		t.Errorf("%d resources, still cut off: %v", len(state.Deployment.Resources), left)
	}
}

// TestAdoptRefusesWhatIsNoState: an export without a deployment is an error.
func TestAdoptRefusesWhatIsNoState(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"version":3}`, `{"deployment":null}`, `{"deployment":[]}`, `null`} {
		if content, err := adopt([]byte(text), map[string]string{roleURN: "id"}); err == nil {
			t.Errorf("%s: %s", text, content)
		}
	}
}

// TestForgettingWhatWasInACluster destroys where the cluster cannot be reached.
func TestForgettingWhatWasInACluster(t *testing.T) {
	t.Parallel()
	const inCluster = `{"deployment":{"resources":[
  {"urn":"urn:pulumi:dev::vpc::pulumi:pulumi:Stack::vpc-dev","type":"pulumi:pulumi:Stack"},
  {"urn":"` + secretURN + `","type":"kubernetes:core/v1:Secret","id":"a/token"}]}}`
	const elsewhere = `{"deployment":{"resources":[
  {"urn":"` + secretURN + `","type":"kubernetes:core/v1:Secret","id":"a/token"},
  {"urn":"` + roleURN + `","type":"aws:iam/role:Role","id":"r"}]}}`
	unreachable := call{args: "destroy", err: failed(), events: []apitype.EngineEvent{
		diagnostic("error", "configured Kubernetes cluster is unreachable: no such host", secretURN),
	}}
	for _, test := range []struct {
		name   string
		forget bool
		calls  []call
		want   string // in the error; "" for none
	}{
		{"without --force-forget", false, []call{unreachable}, "--force-forget"},
		{"with --force-forget", true, []call{unreachable, {args: "stack export", stdout: inCluster}, {args: "state delete --all --force --yes --stack organization/vpc/dev"}}, ""},
		{"with --force-forget and a Helm release", true, []call{
			{args: "destroy", err: failed(), events: []apitype.EngineEvent{
				diagnostic("error", "can't delete Helm Release with unreachable cluster. Reason: \"no such host\"", secretURN),
			}},
			{args: "stack export", stdout: inCluster}, {args: "state delete --all --force --yes --stack organization/vpc/dev"},
		}, ""},
		{"something is elsewhere", true, []call{unreachable, {args: "stack export", stdout: elsewhere}}, "aws:iam/role:Role nodes is not in the cluster"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := open(t, []string{"vpc"}, test.calls...)
			var warned []string
			_, err := e.Operate(t.Context(), Task{Operation: operation.Destroy, Step: step("vpc"), Forget: test.forget}, func(ev event.Event) {
				if ev.Type == event.RunWarning {
					warned = append(warned, ev.Message)
				}
			})
			text := fmt.Sprint(err)
			var advised interface{ NextStep() string }
			if errors.As(err, &advised) {
				text += "; " + advised.NextStep()
			}
			if (err != nil) != (test.want != "") || !strings.Contains(text, test.want) {
				t.Errorf("got %s, want %q", text, test.want)
			}
			if (len(warned) == 1) != (test.want == "") {
				t.Errorf("warned: %v", warned)
			}
		})
	}
}

func TestRemovingStacks(t *testing.T) {
	t.Parallel()
	remove := call{args: "stack rm --yes --preserve-config --stack organization/vpc/dev"}
	e := open(t, []string{"vpc"}, call{args: "destroy", events: []apitype.EngineEvent{summed(nil)}}, remove)
	task := Task{Operation: operation.Destroy, Step: step("vpc"), Remove: true}
	for range 2 { // the second time there is none
		if _, err := e.Operate(t.Context(), task, func(event.Event) {}); err != nil {
			t.Error(err)
		}
	}
	if e.Summary("vpc").Exists {
		t.Error("the stack is still known")
	}
}

// openIn opens the stacks of a file backend.
func openIn(t *testing.T, directory string) *Set {
	t.Helper()
	e := open(t, nil)
	e.options.States = statefiles.Directory{Path: directory, Stack: "dev"}
	return e
}
