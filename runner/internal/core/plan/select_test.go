package plan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mara/providers"
)

// chain returns a plan with a chain, a fork and a step that stands alone. Titles
// are the names in capitals, directories are group/<name>.
func chain(t *testing.T) Plan {
	t.Helper()
	return mustNew(t, provider("vpc", "eks vpc", "ecr", "secrets eks", "ingress-ns eks", "ingress ingress-ns / secrets", "bank ingress ecr"))
}

func TestSelect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   Selection
		want string
	}{
		{"nothing", Selection{}, "vpc eks ecr secrets ingress-ns ingress bank"},
		{"only", Selection{Only: []string{"eks"}}, "eks"},
		{"several", Selection{Only: []string{"bank", "vpc,ecr", " eks , "}}, "vpc eks ecr bank"},
		{"title", Selection{Only: []string{"ECR"}}, "ecr"},
		{"any case", Selection{Only: []string{"EkS"}}, "eks"},
		{"directory", Selection{Only: []string{"group/eks"}}, "eks"},
		{"pattern", Selection{Only: []string{"ingress*"}}, "ingress-ns ingress"},
		{"pattern of a title", Selection{Only: []string{"E?R,[VX]PC"}}, "vpc ecr"},
		{"pattern of directories", Selection{Only: []string{"group/e*"}}, "eks ecr"},
		{"and what it needs", Selection{Only: []string{"+ingress"}}, "vpc eks secrets ingress-ns ingress"},
		{"and what needs it", Selection{Only: []string{"secrets+"}}, "secrets ingress bank"},
		{"both", Selection{Only: []string{"+secrets+"}}, "vpc eks secrets ingress bank"},
		{"pattern with needs", Selection{Only: []string{"+e*"}}, "vpc eks ecr"},
		{"skip", Selection{Skip: []string{"ecr", "bank"}}, "vpc eks secrets ingress-ns ingress"},
		{"skip with what needs it", Selection{Skip: []string{"ingress-ns+"}}, "vpc eks ecr secrets"},
		{"skip wins", Selection{Only: []string{"eks", "vpc"}, Skip: []string{"*pc"}}, "eks"},
		{"from", Selection{From: []string{"ingress-ns"}}, "ingress-ns ingress bank"},
		{"from the first", Selection{From: []string{"ingress,secrets"}}, "secrets ingress-ns ingress bank"},
		{"from what it needs", Selection{From: []string{"+secrets"}}, "vpc eks ecr secrets ingress-ns ingress bank"},
		{"until", Selection{Until: []string{"ecr"}}, "vpc eks ecr"},
		{"until the last", Selection{Until: []string{"ecr", "vpc"}}, "vpc eks ecr"},
		{"until what needs it", Selection{Until: []string{"secrets+"}, Skip: []string{"ecr"}}, "vpc eks secrets ingress-ns ingress bank"},
		{"from until", Selection{From: []string{"eks"}, Until: []string{"secrets"}}, "eks ecr secrets"},
		{"all of them", Selection{Only: []string{"+bank"}, Skip: []string{"vpc"}, From: []string{"eks"}, Until: []string{"ingress"}}, "eks ecr secrets ingress-ns ingress"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Select(chain(t), tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if names := strings.Join(got.Names(), " "); names != tt.want {
				t.Errorf("got %s, want %s", names, tt.want)
			}
			if len(got.Steps)+len(got.Excluded) != 7 {
				t.Errorf("%d steps, %d excluded", len(got.Steps), len(got.Excluded))
			}
		})
	}
}

func TestSelectForDestroy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   Selection
		want string
	}{
		{"what needs it", Selection{Only: []string{"ingress-ns+"}}, "bank ingress ingress-ns"},
		{"what it needs", Selection{Only: []string{"+secrets"}}, "secrets eks vpc"},
		{"until follows the destroy", Selection{Until: []string{"secrets"}}, "bank ingress ingress-ns secrets"},
		{"from follows the destroy", Selection{From: []string{"eks"}}, "eks vpc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Select(chain(t).Reverse(), tt.in)
			if err != nil || !got.Destroy {
				t.Fatal(err, got.Destroy)
			}
			if names := strings.Join(got.Names(), " "); names != tt.want {
				t.Errorf("got %s, want %s", names, tt.want)
			}
		})
	}
}

func TestSelectRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   Selection
		want string
	}{
		{"unknown", Selection{Only: []string{"vcp"}}, `--only: no project "vcp" in the plan; did you mean "vpc"?`},
		{"unknown title", Selection{Skip: []string{"+INGRESSNS"}}, `--skip: no project "INGRESSNS" in the plan; did you mean "ingress-ns"?`},
		{"nothing near", Selection{From: []string{"prometheus"}}, `--from: no project "prometheus" in the plan`},
		{"pattern", Selection{Until: []string{"x*"}}, `--until: no project in the plan matches "x*"`},
		{"not a pattern", Selection{Only: []string{"a[b"}}, `--only: "a[b" is not a pattern: syntax error in pattern`},
		{"only a plus", Selection{Only: []string{"+"}}, `--only: "+" names no project`},
		{"no term", Selection{Only: []string{" , "}}, `--only: no project is named`},
		{"empty", Selection{Skip: []string{""}}, `--skip: no project is named`},
		{"all at once", Selection{Only: []string{"eks,x*"}, Skip: []string{"vcp"}},
			"--only: no project in the plan matches \"x*\"\n--skip: no project \"vcp\" in the plan; did you mean \"vpc\"?"},
		{"nothing left", Selection{Only: []string{"eks"}, Skip: []string{"eks"}}, "the selection skips every project"},
		{"nothing between", Selection{From: []string{"bank"}, Until: []string{"vpc"}}, "the selection skips every project"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Select(chain(t), tt.in)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			var typed *SelectionError
			if !errors.As(err, &typed) || typed.NextStep() == "" {
				t.Errorf("%T has no next step", err)
			}
		})
	}
}

func TestSelectSaysWhy(t *testing.T) {
	t.Parallel()
	got, err := Select(chain(t), Selection{
		Only: []string{"+ingress"}, Skip: []string{"secret*,sec*"}, From: []string{"eks", "ingress"}, Until: []string{"ingress-ns"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var why []string
	for _, e := range got.Excluded {
		why = append(why, e.Step.Project.Name+": "+e.Reason)
	}
	want := []string{
		"vpc: before --from eks,ingress", "ecr: not in --only", "secrets: --skip secret*",
		"ingress: after --until ingress-ns", "bank: not in --only",
	}
	if diff := cmp.Diff(want, why); diff != "" {
		t.Error(diff)
	}
}

// TestEveryWordMeansOneProject holds that no title or directory in a real plan
// also means another project.
func TestEveryWordMeansOneProject(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All() {
		plan := mustNew(t, p)
		for _, step := range plan.Steps {
			for _, word := range step.words() {
				got, err := Select(plan, Selection{Only: []string{word}})
				if err != nil || len(got.Steps) != 1 || got.Steps[0].Project.Name != step.Project.Name {
					t.Errorf("%s: %q means %v, %v", p.Name, word, got.Names(), err)
				}
			}
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   []string
		out  string
		want []string
	}{
		{"ends are joined", []string{"a", "b a", "c b"}, "b", []string{"a", "c / a outside b"}},
		{"order only too", []string{"a", "b / a", "c / b"}, "b", []string{"a", "c / a outside b"}},
		{"over several", []string{"a", "b a", "c b", "d c"}, "b c", []string{"a", "d / a outside c"}},
		{"read already", []string{"a", "b a", "c a b"}, "b", []string{"a", "c a outside b"}},
		{"nothing before", []string{"a", "b", "c a / b"}, "a b", []string{"c outside a b"}},
		{"others keep their edges", []string{"a", "b a", "c b", "d c / a"}, "a", []string{"b outside a", "c b", "d c outside a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reasons := map[string]string{}
			for name := range strings.FieldsSeq(tt.out) {
				reasons[name] = "why"
			}
			got := mustNew(t, provider(tt.in...)).Without(reasons)
			if diff := cmp.Diff(tt.want, outlines(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// outlines renders steps as "name reads / after outside left-out".
func outlines(p Plan) []string {
	var lines []string
	for _, s := range p.Steps {
		words := append([]string{s.Project.Name}, s.Reads...)
		if len(s.After) > 0 {
			words = append(append(words, "/"), s.After...)
		}
		if len(s.Outside) > 0 {
			words = append(append(words, "outside"), s.Outside...)
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

func TestLimit(t *testing.T) {
	t.Parallel()
	got := chain(t).Limit([]string{"bank", "ecr", "gone"}, "succeeded in an earlier run")
	if diff := cmp.Diff([]string{"ecr", "bank"}, got.Names()); diff != "" {
		t.Error(diff)
	}
	if len(got.Excluded) != 5 || got.Excluded[4].Reason != "succeeded in an earlier run" {
		t.Errorf("got %v", got.Excluded)
	}
	again, err := Select(got, Selection{Skip: []string{"ecr"}})
	if err != nil || len(again.Steps) != 1 || len(again.Excluded) != 6 {
		t.Errorf("got %v, %v", again.Names(), err)
	}
}

// closure maps each project to all that it needs, however indirectly.
func closure(p Plan) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, step := range p.Steps {
		name := step.Project.Name
		all[name] = map[string]bool{}
		for _, need := range step.All() {
			all[name][need] = true
			for further := range all[need] {
				all[name][further] = true
			}
		}
	}
	return all
}

// TestClosureProperty compares "+x" and "x+" with the definition, for up and
// for destroy.
func TestClosureProperty(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		up := mustNew(t, randomProvider(random))
		needs := closure(up)
		x := up.Steps[random.IntN(len(up.Steps))].Project.Name
		var before, after []string
		for _, name := range up.Names() {
			if name == x || needs[x][name] {
				before = append(before, name)
			}
			if name == x || needs[name][x] {
				after = append(after, name)
			}
		}
		for _, p := range []Plan{up, up.Reverse()} {
			wantSelected(t, p, Selection{Only: []string{"+" + x}}, before)
			wantSelected(t, p, Selection{Only: []string{x + "+"}}, after)
		}
	}
}

func wantSelected(t *testing.T, p Plan, s Selection, want []string) {
	t.Helper()
	got, err := Select(p, s)
	if err != nil {
		t.Fatal(err)
	}
	names := got.Names()
	if p.Destroy {
		slices.Reverse(names)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatalf("%+v: %s", s, diff)
	}
}

// TestWithoutProperty holds that leaving steps out changes nothing between the
// others: same order, and one has to wait for another exactly if it had to
// before. Leaving them out in two goes or in the other direction is the same.
func TestWithoutProperty(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		whole := mustNew(t, randomProvider(random))
		first, second, both := map[string]string{}, map[string]string{}, map[string]string{}
		for _, name := range whole.Names() {
			switch random.IntN(4) {
			case 0:
				first[name], both[name] = "first", "first"
			case 1:
				second[name], both[name] = "second", "second"
			}
		}
		got := whole.Without(both)
		expectSameOrder(t, whole, got)
		twice := whole.Without(first).Without(second)
		if diff := cmp.Diff(closure(got), closure(twice)); diff != "" {
			t.Fatalf("in two goes: %s", diff)
		}
		known := excludedEdges(twice)
		for _, edge := range excludedEdges(got) {
			if !slices.Contains(known, edge) {
				t.Fatalf("in two goes: %s is lost", edge)
			}
		}
		expectAsStrict(t, got, twice, random)
		reversed, other := got.Reverse(), whole.Reverse().Without(both)
		if diff := cmp.Diff(closure(other), closure(reversed)); diff != "" {
			t.Fatalf("reversed: %s", diff)
		}
		if diff := cmp.Diff(excludedEdges(other), excludedEdges(reversed), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("excluded edges reversed: %s", diff)
		}
	}
}

// expectAsStrict checks that the second plan misses all that the first misses.
func expectAsStrict(t *testing.T, first, second Plan, random *rand.Rand) {
	t.Helper()
	deployed := map[string]bool{}
	for _, e := range first.Excluded {
		deployed[e.Step.Project.Name] = random.IntN(2) == 0
	}
	missing := func(p Plan) []string {
		var excluded *ExcludedError
		if errors.As(p.CheckExcluded(func(name string) bool { return deployed[name] }), &excluded) {
			return blockers(excluded)
		}
		return nil
	}
	found := missing(second)
	for _, name := range missing(first) {
		if !slices.Contains(found, name) {
			t.Fatalf("in two goes: %s is missing and not named", name)
		}
	}
}

func expectSameOrder(t *testing.T, whole, got Plan) {
	t.Helper()
	if len(got.Steps)+len(got.Excluded) != len(whole.Steps) {
		t.Fatalf("%d of %d steps, %d excluded", len(got.Steps), len(whole.Steps), len(got.Excluded))
	}
	before, after := closure(whole), closure(got)
	last := -1
	for i, step := range got.Steps {
		was := stepOf(whole, step.Project.Name)
		if step.Index != i || was.Index <= last {
			t.Fatalf("%s is at %d, and was at %d behind %d", step.Project.Name, step.Index, was.Index, last)
		}
		last = was.Index
		for _, other := range got.Names() {
			if before[step.Project.Name][other] != after[step.Project.Name][other] {
				t.Fatalf("%s waits for %s: %t, and did: %t", step.Project.Name, other,
					after[step.Project.Name][other], before[step.Project.Name][other])
			}
		}
	}
}

// excludedEdges lists the edges to and from skipped steps.
func excludedEdges(p Plan) []string {
	var all []string
	for _, s := range p.Steps {
		for _, name := range s.Outside {
			all = append(all, s.Project.Name+" -> "+name)
		}
	}
	for _, e := range p.Excluded {
		for _, name := range slices.Concat(e.Step.All(), e.Step.Outside) {
			all = append(all, e.Step.Project.Name+" -> "+name)
		}
	}
	slices.Sort(all)
	return all
}

func TestCheckExcluded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		destroy  bool
		in       Selection
		deployed string
		want     string
	}{
		{name: "whole", deployed: ""},
		{name: "all it needs is there", in: Selection{Only: []string{"eks"}}, deployed: "vpc"},
		{name: "missing", in: Selection{Only: []string{"eks"}}, want: "not deployed yet, but skipped: vpc (needed by eks)"},
		{name: "missing for order", in: Selection{Only: []string{"ingress"}}, deployed: "vpc eks ingress-ns",
			want: "not deployed yet, but skipped: secrets (needed by ingress)"},
		{name: "missing in a row", in: Selection{Only: []string{"secrets,ingress-ns"}},
			want: "not deployed yet, but skipped: vpc (needed by secrets, ingress-ns), eks (needed by secrets, ingress-ns)"},
		{name: "what a deployed one needs does not matter", in: Selection{Only: []string{"ingress-ns"}}, deployed: "eks"},
		{name: "destroy", destroy: true, in: Selection{Only: []string{"bank"}}, deployed: "vpc eks bank ingress"},
		{name: "destroy of what is needed", destroy: true, in: Selection{Only: []string{"eks"}}, deployed: "vpc eks secrets",
			want: "still deployed, but skipped: secrets (needs eks)"},
		{name: "destroy of what is needed indirectly", destroy: true, in: Selection{Only: []string{"vpc", "ingress-ns"}}, deployed: "vpc bank",
			want: "still deployed, but skipped: bank (needs ingress-ns, vpc)"},
		{name: "destroy where nothing is left", destroy: true, in: Selection{Only: []string{"vpc"}}, deployed: "vpc ecr"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := chain(t)
			if tt.destroy {
				p = p.Reverse()
			}
			p, err := Select(p, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			deployed := strings.Fields(tt.deployed)
			err = p.CheckExcluded(func(project string) bool { return slices.Contains(deployed, project) })
			if got := fmt.Sprint(err); err != nil && got != tt.want || err == nil && tt.want != "" {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestExcludedError(t *testing.T) {
	t.Parallel()
	p, err := Select(chain(t), Selection{Only: []string{"secrets"}})
	if err != nil {
		t.Fatal(err)
	}
	err = p.CheckExcluded(func(string) bool { return false })
	var typed *ExcludedError
	if !errors.As(err, &typed) || !strings.Contains(typed.NextStep(), "+NAME") {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff([]string{"vpc", "eks"}, blockers(typed)); diff != "" {
		t.Error(diff)
	}
	typed.Destroy = true
	if !strings.Contains(typed.NextStep(), "NAME+") {
		t.Errorf("got %s", typed.NextStep())
	}
}

// TestCheckExcludedProperty holds that what the error names is enough: with it
// the plan is accepted, and without any one of it, it is not.
func TestCheckExcludedProperty(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	refused := 0
	for range 500 {
		p := mustNew(t, randomProvider(random))
		if random.IntN(2) == 0 {
			p = p.Reverse()
		}
		deployed, keep := map[string]bool{}, map[string]bool{}
		for _, name := range p.Names() {
			deployed[name], keep[name] = random.IntN(2) == 0, random.IntN(3) == 0
		}
		check := func() error { return only(p, keep).CheckExcluded(func(name string) bool { return deployed[name] }) }
		var excluded *ExcludedError
		if err := check(); !errors.As(err, &excluded) {
			continue
		}
		refused++
		for _, name := range blockers(excluded) {
			if keep[name] || deployed[name] != p.Destroy {
				t.Fatalf("%s: selected %t, deployed %t", name, keep[name], deployed[name])
			}
			keep[name] = true
		}
		if err := check(); err != nil {
			t.Fatalf("after adding all that was named: %v", err)
		}
		if names := blockers(excluded); len(names) > 0 {
			keep[names[random.IntN(len(names))]] = false
			if check() == nil {
				t.Fatalf("one of %v was not needed", names)
			}
		}
	}
	if refused < 100 {
		t.Errorf("only %d plans were refused", refused)
	}
}

func only(p Plan, keep map[string]bool) Plan {
	var names []string
	for name, wanted := range keep {
		if wanted {
			names = append(names, name)
		}
	}
	return p.Limit(names, "skipped")
}

// blockers lists the projects that must not be skipped.
func blockers(e *ExcludedError) []string {
	var names []string
	for _, b := range e.Projects {
		names = append(names, b.Project)
	}
	return names
}
