package stacks

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/projects/model/operation"
	"mara/runner/internal/core/pulumicli/wire"
)

// fakeService has stacks by their full names.
type fakeService struct {
	stacks map[string]wire.ServiceStack
	asked  []wire.ReadStacks
	sealed []string // stacks whose keys were asked for
	err    error
}

func (s *fakeService) Read(_ context.Context, question wire.ReadStacks) (map[string]wire.ServiceStack, error) {
	s.asked = append(s.asked, question)
	found := map[string]wire.ServiceStack{}
	for _, name := range question.Names {
		if stack, ok := s.stacks[name]; ok {
			found[name] = stack
		}
	}
	return found, s.err
}

func (s *fakeService) Seal(_ context.Context, question wire.SealValues) (wire.SealedValues, error) {
	s.sealed = append(s.sealed, question.Stack)
	var sealed wire.SealedValues
	for _, value := range question.Values {
		sealed = append(sealed, []byte(question.Stack+":"+string(value)))
	}
	return sealed, s.err
}

func (s *fakeService) Cancel(context.Context, wire.CancelUpdate) (bool, error) { return true, s.err }

// deployedState is a state with some resources.
func deployedState(resources int) json.RawMessage {
	return json.RawMessage(`{"resources": [` + strings.TrimSuffix(strings.Repeat(`{"type": "a:b:C"},`, resources), ",") + `]}`)
}

func openAtService(t *testing.T, s *fakeService, list string, calls ...call) *Set {
	t.Helper()
	calls = append([]call{{args: "stack ls --all --json", stdout: list}}, calls...)
	e, err := Open(t.Context(), Options{Command: newFake(t, calls...), Stack: "dev", Organization: "acme", Service: s,
		Projects: []string{"vpc", "eks", "app"}, WorkDir: t.TempDir(), UpdatesDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestCountsAtAService: the counts of the service's list may be missing or late, so the states say how many resources
// there are. They are read at once, and not again while they are fresh.
func TestCountsAtAService(t *testing.T) {
	t.Parallel()
	s := &fakeService{stacks: map[string]wire.ServiceStack{
		"acme/vpc/dev": {State: deployedState(3)}, "acme/eks/dev": {State: json.RawMessage(`{}`)}, "acme/app/dev": {},
	}}
	e := openAtService(t, s, `[{"name": "acme/vpc/dev"}, {"name": "acme/eks/dev", "resourceCount": 5}, {"name": "acme/app/dev"},
		{"name": "acme/other/dev", "resourceCount": 7}, {"name": "acme/vpc/prod", "resourceCount": 1}]`)
	got := map[string]int{}
	for _, project := range []string{"vpc", "eks", "app", "other"} {
		got[project] = e.Summary(project).Resources
	}
	if want := (map[string]int{"vpc": 3, "eks": 0, "app": 0, "other": 7}); !maps.Equal(got, want) {
		t.Errorf("counts are %v, want %v", got, want)
	}
	if standing, err := e.Standing(t.Context(), "vpc"); err != nil || standing.Resources != 3 {
		t.Errorf("standing %+v, %v", standing, err)
	}
	if len(s.asked) != 1 || len(s.asked[0].Names) != 3 {
		t.Errorf("asked %+v", s.asked)
	}
	e.read.forget("vpc")
	if _, err := e.Standing(t.Context(), "vpc"); err != nil || len(s.asked) != 2 {
		t.Errorf("after a change it was asked %d times, %v", len(s.asked), err)
	}
}

func TestServiceRefuses(t *testing.T) {
	t.Parallel()
	s := &fakeService{err: errors.New("reading the stack acme/vpc/dev: [403] no")}
	_, err := Open(t.Context(), Options{Command: newFake(t, call{args: "stack ls", stdout: `[{"name": "acme/vpc/dev"}]`}), Stack: "dev",
		Organization: "acme", Service: s})
	if err == nil || !strings.Contains(err.Error(), "acme/vpc/dev") {
		t.Errorf("got %v", err)
	}
}

// TestRunningAtAService: an update is this machine's own if a worker has written down its ID.
func TestRunningAtAService(t *testing.T) {
	t.Parallel()
	s := &fakeService{stacks: map[string]wire.ServiceStack{
		"acme/vpc/dev": {Update: &wire.ServiceUpdate{ID: "u1", Kind: "update", Author: "alice", Started: 100}},
		"acme/eks/dev": {Update: &wire.ServiceUpdate{ID: "u2", Kind: "destroy", Author: "bob", Started: 100}},
		"acme/app/dev": {},
	}}
	e := openAtService(t, s, `[{"name": "acme/vpc/dev"}, {"name": "acme/eks/dev"}, {"name": "acme/app/dev"}]`)
	for project, id := range map[string]string{"vpc": "u1", "eks": "an-older-one"} {
		content := `{"stack": "acme/` + project + `/dev", "update": "` + id + `", "pid": 7, "link": "https://page"}`
		if err := os.WriteFile(filepath.Join(e.options.UpdatesDir, project+".json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	running, err := (AtService{e}).Running(t.Context(), []string{"vpc", "eks", "app"})
	if err != nil || len(running) != 2 {
		t.Fatalf("running %+v, %v", running, err)
	}
	if asked := s.asked[len(s.asked)-1].Begun; len(asked) != 2 || asked["acme/vpc/dev"] != "u1" {
		t.Errorf("asked about %v", asked)
	}
	if own := running[0]; own.Project != "vpc" || own.Begun == nil || own.Begun.PID != 7 || running[1].Begun != nil {
		t.Errorf("running %+v", running)
	}
	if got := (AtService{e}).HasBegun([]string{"vpc", "eks", "app"}); !slices.Equal(got, []string{"vpc", "eks"}) {
		t.Errorf("begun %v", got)
	}
	if link := e.endUpdate("vpc", true); link != "https://page" || len((AtService{e}).HasBegun([]string{"vpc"})) == 0 {
		t.Errorf("after a failure the link is %q, and %v has begun", link, (AtService{e}).HasBegun([]string{"vpc"}))
	}
	if link := e.endUpdate("vpc", false); link != "https://page" || len((AtService{e}).HasBegun([]string{"vpc"})) > 0 {
		t.Errorf("the link is %q, and %v has begun", link, (AtService{e}).HasBegun([]string{"vpc"}))
	}
}

func TestLastUpdateAtAService(t *testing.T) {
	t.Parallel()
	s := &fakeService{stacks: map[string]wire.ServiceStack{
		"acme/vpc/dev": {Last: &wire.ServiceHistory{Kind: "update", Result: "succeeded", Start: 100, End: 160}}, "acme/eks/dev": {},
	}}
	e := openAtService(t, s, `[{"name": "acme/vpc/dev"}, {"name": "acme/eks/dev"}]`)
	update, ok, err := e.LastUpdate(t.Context(), "vpc")
	if err != nil || !ok || update.Operation != operation.Up || update.End.Sub(update.Start).Seconds() != 60 {
		t.Errorf("last update %+v, %t, %v", update, ok, err)
	}
	if _, ok, err := e.LastUpdate(t.Context(), "eks"); ok || err != nil {
		t.Errorf("a stack without an update: %t, %v", ok, err)
	}
	if len(s.asked) != 2 { // the states, and the history of all
		t.Errorf("asked %+v", s.asked)
	}
}

// TestSealFor encrypts what is encrypted with another key, and nothing else.
func TestSealFor(t *testing.T) {
	t.Parallel()
	file := "config:\n  app:token: {secure: FOREIGN}\n  app:own: {secure: OWN}\n"
	for name, test := range map[string]struct {
		sealed Sealed
		want   string
		asked  int
	}{
		"nothing is foreign": {Sealed{"OTHER": "x"}, file, 0},
		"one value":          {Sealed{"FOREIGN": "x", "OTHER": "y"}, strings.Replace(file, "FOREIGN", "YWNtZS9hcHAvZGV2Ong=", 1), 1},
	} {
		s := &fakeService{}
		got, err := SealFor(t.Context(), s, "acme/app/dev", []byte(file), test.sealed)
		if err != nil || string(got) != test.want || len(s.sealed) != test.asked {
			t.Errorf("%s: %s, asked %v, %v", name, got, s.sealed, err)
		}
	}
	if _, err := SealFor(t.Context(), &fakeService{err: errors.New("no")}, "acme/app/dev", []byte(file), Sealed{"FOREIGN": "x"}); err == nil ||
		!strings.Contains(err.Error(), "acme/app/dev") {
		t.Errorf("an error of the service: %v", err)
	}
}

// TestRenamedReferences: a state that moves to another organization refers to its stacks there.
func TestRenamedReferences(t *testing.T) {
	t.Parallel()
	from := openFake(t, newFake(t), "vpc")
	to := &Set{copies: newCopies(Options{Organization: "acme", Stack: "dev"})}
	got := string(Copier{From: from, To: to}.renamed([]byte(`{"id": "organization/vpc/dev", "other": "organization/vpc/prod", "text": "see organization/vpc/dev"}`)))
	if want := `{"id": "acme/vpc/dev", "other": "organization/vpc/prod", "text": "see organization/vpc/dev"}`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestEncryptionOfAServiceInAState(t *testing.T) {
	t.Parallel()
	provider, err := newCopies(Options{Organization: "acme", Stack: "dev"}).inState("vpc", Encryption{Service: "https://api.pulumi.com"})
	if want := `{"owner":"acme","project":"vpc","stack":"dev","url":"https://api.pulumi.com"}`; err != nil || provider.Type != "service" ||
		string(provider.State) != want {
		t.Errorf("got %s %s, %v", provider.Type, provider.State, err)
	}
}

func TestMessageWithoutQuotes(t *testing.T) {
	t.Parallel()
	got := reachable([]string{"up", `--message="it's \"new\""`})
	if got[1] != `--message=it's "new"` {
		t.Errorf("got %q", got)
	}
}
