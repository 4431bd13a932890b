package plan

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCriticalPath(t *testing.T) {
	t.Parallel()
	seconds := func(pairs map[string]int) map[string]time.Duration {
		known := map[string]time.Duration{}
		for name, n := range pairs {
			known[name] = time.Duration(n) * time.Second
		}
		return known
	}
	tests := []struct {
		name  string
		plan  []string
		known map[string]int
		other time.Duration
		want  string
		total time.Duration
	}{
		{name: "empty"},
		{name: "no estimates", plan: []string{"a", "b a"}, want: "a b"},
		{name: "longest, not most", plan: []string{"a", "b a", "c b", "d"}, known: map[string]int{"a": 1, "b": 1, "c": 1, "d": 9}, want: "d", total: 9 * time.Second},
		{name: "default", plan: []string{"a", "b a", "c"}, known: map[string]int{"c": 3}, other: 2 * time.Second, want: "a b", total: 4 * time.Second},
		{name: "first of equals", plan: []string{"a", "b", "c a b", "d b"}, other: time.Second, want: "a c", total: 2 * time.Second},
		{name: "order counts as well", plan: []string{"a", "b / a", "c a"}, known: map[string]int{"a": 1, "b": 5, "c": 4}, want: "a b", total: 6 * time.Second},
		{name: "negative is nothing", plan: []string{"a", "b a"}, known: map[string]int{"a": -5, "b": 1}, other: -1, want: "a b", total: time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := mustNew(t, provider(tt.plan...)).CriticalPath(Estimates{Known: seconds(tt.known), Default: tt.other})
			if names := strings.Join(got.Projects, " "); names != tt.want || got.Total != tt.total {
				t.Errorf("got %s in %v, want %s in %v", names, got.Total, tt.want, tt.total)
			}
		})
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	p := mustNew(t, provider("a", "b a", "c", "d b / c", "e c"))
	if diff := cmp.Diff([][]string{{"a", "c"}, {"b", "e"}, {"d"}}, p.Levels()); diff != "" {
		t.Error(diff)
	}
	if got := p.Width(); got != 2 {
		t.Errorf("the width is %d", got)
	}
	if got := mustNew(t, provider("a", "b a", "c b")).Width(); got != 1 {
		t.Errorf("the width of a chain is %d", got)
	}
}

// TestRemainingProperty checks the estimates against their definitions on
// plans made at random, in both directions.
func TestRemainingProperty(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		p := mustNew(t, randomProvider(random))
		if random.IntN(2) == 0 {
			p = p.Reverse()
		}
		e := Estimates{Known: map[string]time.Duration{}, Default: time.Minute}
		for _, name := range p.Names()[1:] {
			e.Known[name] = time.Duration(random.IntN(10)) * time.Second
		}
		remaining := p.Remaining(e)
		for i, step := range p.Steps {
			if want := slowest(p, e, i); remaining[i] != want {
				t.Fatalf("%s: got %v, want %v", step.Project.Name, remaining[i], want)
			}
		}
		expectCriticalPath(t, p, e, remaining)
		expectLevels(t, p)
	}
}

// slowest returns the time of the longest chain from a step on, by trying all chains.
func slowest(p Plan, e Estimates, from int) time.Duration {
	var rest time.Duration
	_, dependents, _ := p.Edges()
	for _, next := range dependents[from] {
		rest = max(rest, slowest(p, e, next))
	}
	return e.Of(p.Steps[from].Project.Name) + rest
}

func expectCriticalPath(t *testing.T, p Plan, e Estimates, remaining []time.Duration) {
	t.Helper()
	path := p.CriticalPath(e)
	var total, most time.Duration
	for i, name := range path.Projects {
		total += e.Of(name)
		if step := stepOf(p, name); i > 0 && !closure(p)[step.Project.Name][path.Projects[i-1]] {
			t.Fatalf("%v is no chain", path.Projects)
		}
	}
	for _, r := range remaining {
		most = max(most, r)
	}
	if total != path.Total || total != most {
		t.Fatalf("%v takes %v, says %v, should take %v", path.Projects, total, path.Total, most)
	}
}

func expectLevels(t *testing.T, p Plan) {
	t.Helper()
	level, count := map[string]int{}, 0
	for i, names := range p.Levels() {
		for _, name := range names {
			level[name] = i
			count++
		}
	}
	for _, step := range p.Steps {
		want := 0
		for _, need := range step.All() {
			want = max(want, level[need]+1)
		}
		if level[step.Project.Name] != want {
			t.Fatalf("%s is on level %d, want %d", step.Project.Name, level[step.Project.Name], want)
		}
	}
	if count != len(p.Steps) {
		t.Fatalf("%d of %d steps have a level", count, len(p.Steps))
	}
}
