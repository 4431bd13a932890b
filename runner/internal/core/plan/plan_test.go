package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/providers"
)

// provider makes one from lines of "name reads... / after...".
func provider(lines ...string) model.Provider {
	p := model.Provider{Infrastructure: model.Infrastructure{Name: "test", Title: "Test"}}
	for _, line := range lines {
		before, after, _ := strings.Cut(line, "/")
		words := strings.Fields(before)
		p.Steps = append(p.Steps, model.Step{
			Project: model.Project{Name: words[0], Path: "group/" + words[0], Title: strings.ToUpper(words[0])},
			Needs:   needs.Needs{Reads: words[1:], After: strings.Fields(after)},
		})
	}
	return p
}

// mustNew returns the plan of a provider.
func mustNew(t *testing.T, p model.Provider) Plan {
	t.Helper()
	plan, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestNew(t *testing.T) {
	t.Parallel()
	plan := mustNew(t, provider("a", "b a", "secrets b a", "c secrets b / a secrets"))
	want := []string{
		"0 a infrastructure",
		"1 b infrastructure a",
		"2 secrets secrets a b",
		"3 c kubernetes b secrets / a secrets = b secrets a",
	}
	var got []string
	for _, s := range plan.Steps {
		text := fmt.Sprint(s.Index, " ", s.Project.Name, " ", s.Phase, " ", strings.Join(s.Reads, " "))
		if len(s.After) > 0 {
			text += " / " + strings.Join(s.After, " ") + " = " + strings.Join(s.All(), " ")
		}
		got = append(got, strings.TrimSpace(text))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   []string
		want string
	}{
		{"listed twice", []string{"a", "b", "a"}, `plan: project "a" is listed twice`},
		{"unknown", []string{"a", "vpc", "b vpx"}, `plan: project "b" needs "vpx", which is not listed before it`},
		{"unknown in after", []string{"a / nothing"}, `plan: project "a" needs "nothing", which is not listed before it`},
		{"needs itself", []string{"a", "b b"}, `plan: project "b" needs "b", which is not listed before it`},
		{"cycle", []string{"a", "b d", "c b", "d / c"}, `plan: project "b" needs "d", which is not listed before it`},
		{"order", []string{"a", "b a / c", "c"}, `plan: project "b" needs "c", which is not listed before it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(provider(tt.in...))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestReverse(t *testing.T) {
	t.Parallel()
	plan := mustNew(t, provider("a", "b a", "c a / b")).Reverse()
	if !plan.Destroy {
		t.Error("it does not say that it is for destroy")
	}
	var got []string
	for _, s := range plan.Steps {
		got = append(got, strings.TrimSpace(fmt.Sprint(s.Index, " ", s.Project.Name, " ", strings.Join(s.All(), " "))))
		if s.Reads != nil {
			t.Errorf("%s reads %v while being destroyed", s.Project.Name, s.Reads)
		}
	}
	if diff := cmp.Diff([]string{"0 c", "1 b c", "2 a c b"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestHooksOfADestroy: only hooks with something to undo run.
func TestHooksOfADestroy(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All() {
		up := mustNew(t, p)
		down := up.Reverse()
		ofCluster := "[kubeconfig]"
		if p.Existing != nil { // its kubeconfig is the user's own
			ofCluster = "[]"
		}
		for _, test := range []struct {
			plan    Plan
			project string
			want    string
		}{
			{up, p.ClusterProject, ofCluster}, {down, p.ClusterProject, ofCluster},
			{up, "bank-of-anthos", "[answers]"}, {down, "bank-of-anthos", "[]"}, {down.Reverse(), "bank-of-anthos", "[answers]"},
		} {
			step := stepOf(test.plan, test.project)
			if got := fmt.Sprint(step.hooks()); got != test.want {
				t.Errorf("%s, destroy %v: hooks of %s %s, want %s", p.Name, test.plan.Destroy, test.project, got, test.want)
			}
		}
	}
}

// TestReverseProperty holds the promise about destroy for every provider and
// for plans made at random: the order is the reverse of up, and the edges are
// exactly those of up, turned round.
func TestReverseProperty(t *testing.T) {
	t.Parallel()
	all := providers.All()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		all = append(all, randomProvider(random))
	}
	for _, p := range all {
		up := mustNew(t, p)
		down := up.Reverse()
		names := up.Names()
		slices.Reverse(names)
		if diff := cmp.Diff(names, down.Names()); diff != "" {
			t.Fatalf("order: %s", diff)
		}
		if diff := cmp.Diff(edges(up, false), edges(down, true)); diff != "" {
			t.Fatalf("edges: %s", diff)
		}
		again := down.Reverse()
		if diff := cmp.Diff(edges(up, false), edges(again, false)); diff != "" || again.Destroy {
			t.Fatalf("twice: %s", diff)
		}
		for i, s := range down.Steps {
			if s.Index != i {
				t.Fatalf("%s has the index %d", s.Project.Name, s.Index)
			}
			for _, need := range s.All() {
				if before := stepOf(down, need); before.Index >= i {
					t.Fatalf("%s does not wait for %s", s.Project.Name, need)
				}
			}
		}
	}
}

// TestMistakesProperty puts one mistake into plans made at random; each has to
// be found.
func TestMistakesProperty(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		p := randomProvider(random)
		a := random.IntN(len(p.Steps) - 1)
		b := a + 1 + random.IntN(len(p.Steps)-a-1)
		first, second := p.Steps[a].Project.Name, p.Steps[b].Project.Name
		switch kind := random.IntN(4); kind {
		case 0:
			p.Steps[b].Project.Name = first
			wantError(t, p, "listed twice")
		case 1:
			p.Steps[b].Reads = append(p.Steps[b].Reads, "nowhere")
			wantError(t, p, `"nowhere", which is not listed before it`)
		case 2: // a waits for b, and b for a
			p.Steps[b].Reads = append(p.Steps[b].Reads, first)
			p.Steps[a].After = append(p.Steps[a].After, second)
			wantError(t, p, fmt.Sprintf("%q needs %q, which is not listed before it", first, second))
		case 3: // a waits for b, which needs nothing
			p.Steps[b].Reads, p.Steps[b].After = nil, nil
			p.Steps[a].After = append(p.Steps[a].After, second)
			wantError(t, p, fmt.Sprintf("%q needs %q, which is not listed before it", first, second))
		}
	}
}

func wantError(t *testing.T, p model.Provider, want string) {
	t.Helper()
	if _, err := New(p); err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want %q", err, want)
	}
}

// randomProvider makes a provider whose edges point backwards.
func randomProvider(random *rand.Rand) model.Provider {
	var p model.Provider
	for i := range 2 + random.IntN(12) {
		step := model.Step{Project: model.Project{Name: fmt.Sprintf("p%d", i), Path: fmt.Sprintf("g%d/p%d", i/3, i)}}
		for j := range i {
			switch random.IntN(4) {
			case 0:
				step.Reads = append(step.Reads, fmt.Sprintf("p%d", j))
			case 1:
				step.After = append(step.After, fmt.Sprintf("p%d", j))
			}
		}
		random.Shuffle(len(step.Reads), func(a, b int) { step.Reads[a], step.Reads[b] = step.Reads[b], step.Reads[a] })
		p.Steps = append(p.Steps, step)
	}
	return p
}

// edges lists "a -> b" for all edges, turned round if asked.
func edges(p Plan, turned bool) []string {
	var all []string
	for _, s := range p.Steps {
		for _, need := range s.All() {
			from, to := need, s.Project.Name
			if turned {
				from, to = to, from
			}
			all = append(all, from+" -> "+to)
		}
	}
	slices.Sort(all)
	return all
}

// stepOf returns the step of a project.
func stepOf(p Plan, name string) Step { return p.Steps[indexOf(p.Steps)[name]] }
