package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/plan"
)

// fleetOf makes environments of lines such as "eu-1 stage=prod,region=eu".
func fleetOf(lines ...string) []Environment {
	var all []Environment
	for _, line := range lines {
		name, text, _ := strings.Cut(line, " ")
		e := Environment{Stack: name, Labels: map[string]string{EnvironmentLabel: name}, File: "config/environments/" + name + ".yaml"}
		for pair := range strings.SplitSeq(text, ",") {
			if key, value, ok := strings.Cut(pair, "="); ok {
				e.Labels[key] = value
			}
		}
		all = append(all, e)
	}
	return all
}

func some() []Environment {
	return fleetOf("canary-1 stage=prod,wave=canary", "eu-1 stage=prod,region=eu", "eu-2 stage=prod,region=eu", "us-1 stage=prod,region=us", "test stage=test")
}

func TestSelect(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		in   Selection
		want string
	}{
		{"nothing is all", Selection{}, "canary-1 eu-1 eu-2 us-1 test"},
		{"names and patterns", Selection{Names: []string{"eu-*", "test"}}, "eu-1 eu-2 test"},
		{"labels", Selection{Labels: "stage=prod,region!=us"}, "canary-1 eu-1 eu-2"},
		{"a set", Selection{Labels: "region in (eu, us)"}, "eu-1 eu-2 us-1"},
		{"there or not", Selection{Labels: "wave,stage"}, "canary-1"},
		{"a label that none has", Selection{Labels: "!tenant,tenant!=acme,tenant notin (b)"}, "canary-1 eu-1 eu-2 us-1 test"},
		{"a misspelled label that none has", Selection{Labels: "!stag"}, `-l: no environment has a label "stag"; did you mean "stage"?`},
		{"both", Selection{Names: []string{"*-1"}, Labels: "region"}, "eu-1 us-1"},
		{"an unknown name", Selection{Names: []string{"eu-3"}}, `no environment "eu-3"; did you mean "eu-1"?`},
		{"an unknown label", Selection{Labels: "stag=prod"}, `-l: no environment has a label "stag"; did you mean "stage"?`},
		{"no selector", Selection{Labels: "a=(b"}, `-l: "a=(b" does not select labels: `},
		{"none", Selection{Labels: "stage=dev"}, "no environment is chosen by -l stage=dev"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			chosen, err := Select(some(), test.in)
			got := strings.Join(Names(chosen), " ")
			if err != nil {
				got = err.Error()
			}
			startsAsWanted := err != nil && strings.HasSuffix(test.want, ": ") && strings.HasPrefix(got, test.want)
			if got != test.want && !startsAsWanted {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func read(t *testing.T, text string, all []Environment) (Rollout, error) {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "config"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, RolloutFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return ReadRollout(root, all)
}

// TestWrongRollouts: each mistake is one error, with file and line.
func TestWrongRollouts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, want string }{
		{"unknown label", "waves:\n  - {name: a, match: {wve: canary}}\n", `config/rollout.yaml:2: a matches nothing: no environment has a label "wve"; did you mean "wave"?`},
		{"nothing matches", "waves:\n  - {name: a, match: {stage: dev}}\n", "config/rollout.yaml:2: a matches no environment: none has stage=dev"},
		{"two match", "waves:\n  - {name: a, match: {wave: canary}}\n  - {name: b, match: stage=prod}\n",
			"config/rollout.yaml:3: b matches canary-1, which wave a in line 2 matches as well; an environment is in one wave"},
		{"two match several", "waves:\n  - {name: a, match: stage}\n  - {name: b, match: stage=prod}\n",
			"config/rollout.yaml:3: b matches canary-1 and 3 more, which wave a in line 2 matches as well; an environment is in one wave"},
		{"no match", "waves:\n  - {name: a}\n", "config/rollout.yaml:2: a matches nothing; write which labels it is for, such as match: {stage: prod}"},
		{"no name", "waves:\n  - {match: {stage: prod}}\n", "config/rollout.yaml:2: name of a wave is missing, or has other characters than letters, digits, hyphens, underscores and periods"},
		{"one name twice", "waves:\n  - {name: a, match: {stage: test}}\n  - {name: a, match: {stage: prod}}\n", "config/rollout.yaml:3: a is the name of another wave already"},
		{"unknown wave", "waves:\n  - {name: tests, match: {stage: test}}\n  - name: b\n    after: test\n    match: {stage: prod}\n",
			`config/rollout.yaml:4: b comes after "test", which is no wave that is listed before it; did you mean "tests"?`},
		{"unknown key", "waves:\n  - {name: a, mach: {stage: prod}, match: stage}\n",
			`config/rollout.yaml:2: mach is not known; there are: after, gates, match, maxFailures, name, parallel, soak; did you mean "match"?`},
		{"parallel", "waves:\n  - {name: a, match: stage, parallel: 0}\n", "config/rollout.yaml:2: parallel must be a number from 1, or a part such as 10%"},
		{"no percent at once", "waves:\n  - {name: a, match: stage, parallel: 0%}\n", "config/rollout.yaml:2: parallel must be a number from 1, or a part such as 10%"},
		{"percent", "waves:\n  - {name: a, match: stage, maxFailures: 110%}\n", "config/rollout.yaml:2: maxFailures must be a number from 0, or a part such as 10%"},
		{"soak", "waves:\n  - {name: a, match: stage, soak: 30}\n", "config/rollout.yaml:2: soak must be a duration such as 30m"},
		{"gate", "waves:\n  - {name: a, match: stage, gates: [drfit]}\n",
			`config/rollout.yaml:2: gates has "drfit"; there are: drift, answers, {answers: [PROJECT/OUTPUT]}, {run: COMMAND}, {ask: QUESTION}; did you mean "drift"?`},
		{"two gates in one", "waves:\n  - {name: a, match: stage, gates: [{run: x, ask: y}]}\n",
			"config/rollout.yaml:2: gates has a map with run and ask: write one gate for each"},
		{"an output", "waves:\n  - {name: a, match: stage, gates: [{answers: [url]}]}\n",
			`config/rollout.yaml:2: answers has "url", which is no PROJECT/OUTPUT; * stands for any characters`},
		{"certificates", "waves:\n  - {name: a, match: stage, gates: [{answers: [a/url], certificates: none}]}\n",
			"config/rollout.yaml:2: certificates must be valid or any"},
		{"within", "waves:\n  - {name: a, match: stage, gates: [{run: x, within: 1m}]}\n",
			"config/rollout.yaml:2: gates has within or certificates, which only answers has"},
		{"a script that is not there", "waves:\n  - {name: a, match: stage, gates: [{run: ./x.sh --now}]}\n", "config/rollout.yaml:2: gates run ./x.sh, and there is no such file below the root"},
		{"a script that is not there, as a list", "waves:\n  - {name: a, match: stage, gates: [{run: [./x.sh, --now]}]}\n", "config/rollout.yaml:2: gates run ./x.sh, and there is no such file below the root"},
		{"no YAML", "waves: [\n", "config/rollout.yaml: is not valid YAML: line 1: did not find expected node content"},
		{"no map", "- a\n", "config/rollout.yaml:1: must be a map"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := read(t, test.in, some())
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			for _, e := range some() { // asked by those who look at a fleet whose waves are broken
				if _, err := r.WaveOf(e); err != nil {
					t.Errorf("an echo: %v", err)
				}
			}
			r.Before(some(), some())
		})
	}
}

// FuzzRollout: whatever is in the file, those who look at the fleet can ask for its waves.
func FuzzRollout(f *testing.F) {
	for _, seed := range []string{
		waves, "", "waves:", "waves:\n- {name: all, match: {stage: test}, soak: 30}\n", "waves: [{name: a, match: {a: [b]}, gates: [drif]}]",
		"promotion: {by: region}\nwaves:\n- {name: a, match: 'x in (', after: [a]}\n- {name: a, parallel: 200%}\n", "waves: &w [*w]", "a: {b", "waves: [null]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := some()
		r, err := read(t, text, all)
		for _, e := range all {
			if _, waveErr := r.WaveOf(e); err != nil && waveErr != nil {
				t.Errorf("an echo of %v: %v", err, waveErr)
			}
		}
		r.Before(all[2:], all)
		if _, planErr := NewPlan(all, r, true); err == nil && planErr != nil && !strings.Contains(planErr.Error(), "is in no wave") {
			t.Error(planErr)
		}
	})
}

const waves = `waves:
  - {name: test, match: {stage: test}}
  - {name: canary, match: {wave: canary}, soak: 1m, gates: [drift, {answers: "*/url", within: 5m, certificates: any}, {answers: }, {run: smoke.sh}, {ask: "Go on?"}]}
  - {name: prod, match: "stage=prod,wave!=canary", parallel: 50%, maxFailures: 1}
`

// steps renders a plan: each step with what it waits for.
func steps(p plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, strings.TrimSpace(s.Project.Name+" < "+strings.Join(s.After, " ")))
	}
	return out
}

func TestNewPlan(t *testing.T) {
	t.Parallel()
	all := some()
	r, err := read(t, waves, all)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(all, r, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"test <", "wave:test < test", "canary-1 < wave:test", "wave:canary < canary-1", "eu-1 < wave:canary", "eu-2 < wave:canary", "us-1 < wave:canary"}
	if diff := cmp.Diff(want, steps(p.Plan)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = []string{"us-1 <", "eu-2 <", "eu-1 <", "wave:canary < us-1 eu-2 eu-1", "canary-1 < wave:canary", "wave:test < canary-1", "test < wave:test"}
	if diff := cmp.Diff(want, steps(p.Reverse())); diff != "" {
		t.Errorf("backwards (-want +got):\n%s", diff)
	}
	if name, limit := p.Limit(p.Steps[5]); name != "prod" || limit != 1 {
		t.Errorf("limit %s %d", name, limit)
	}
	tolerance := p.Tolerance()
	if !tolerance("eu-1") || tolerance("eu-2") || tolerance("test") || tolerance("wave:canary") {
		t.Error("wave prod tolerates one failure, the others none")
	}
	if _, err := NewPlan(all, Rollout{}, true); err != nil {
		t.Errorf("without waves: %v", err)
	}
	if p, _ := NewPlan(all, r, false); len(p.Steps) != len(all) || len(p.Steps[4].After) > 0 {
		t.Errorf("without order: %v", steps(p.Plan))
	}
	some, err := NewPlan(all[1:3], r, true)
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"eu-1 <", "eu-2 <"}
	if diff := cmp.Diff(want, steps(some.Plan)); diff != "" {
		t.Errorf("some (-want +got):\n%s", diff)
	}
}

// TestBefore: promotion is by wave, and within a region where that is asked for.
func TestBefore(t *testing.T) {
	t.Parallel()
	all := fleetOf("t-eu stage=test,region=eu", "t-us stage=test,region=us", "t stage=test", "c-eu stage=canary,region=eu", "p-eu stage=prod,region=eu", "p-ap stage=prod,region=ap", "p stage=prod")
	const waves = "waves:\n- {name: a, match: {stage: test}}\n- {name: b, match: {stage: canary}}\n- {name: c, match: {stage: prod}}\n"
	for _, test := range []struct{ by, chosen, want string }{
		{"", "p-eu", "t-eu t-us t c-eu"},
		{"region", "p-eu", "t-eu t c-eu"},
		{"region", "p-ap", "t-eu t-us t c-eu"}, // none of its region comes before
		{"region", "p", "t-eu t-us t c-eu"},    // it has none
		{"region", "c-eu", "t-eu t"},
		{"region", "t-eu", ""},
	} {
		text := waves
		if test.by != "" {
			text = "promotion: {by: " + test.by + "}\n" + waves
		}
		r, err := read(t, text, all)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := Select(all, Selection{Names: []string{test.chosen}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Names(r.Before(chosen, all)), " "); got != test.want {
			t.Errorf("by %q before %s: %s, want %s", test.by, test.chosen, got, test.want)
		}
	}
	if _, err := read(t, "promotion: {by: regoin}\n"+waves, all); err == nil || !strings.Contains(err.Error(), `config/rollout.yaml:1: promotion is by "regoin", which is no label of any environment; did you mean "region"?`) {
		t.Errorf("a label that there is not: %v", err)
	}
}

// TestShares: at least one environment is worked on, and a percentage of failures is never exceeded.
func TestShares(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ percent, total, of, atMost int }{{5, 3, 1, 0}, {50, 3, 1, 1}, {34, 3, 1, 1}, {100, 3, 3, 3}} {
		s := Share{Percent: test.percent}
		if s.Of(test.total) != test.of || s.AtMost(test.total) != test.atMost {
			t.Errorf("%d%% of %d: %d at once, %d may fail", test.percent, test.total, s.Of(test.total), s.AtMost(test.total))
		}
	}
	r, err := read(t, "waves: [{name: a, match: stage, maxFailures: 0%}]\n", []Environment{{Stack: "dev", Labels: map[string]string{"stage": "test"}}})
	if err != nil || r.Waves[0].MaxFailures.AtMost(9) != 0 {
		t.Errorf("0%% of 9: %+v, %v", r.Waves, err)
	}
	if s := (Share{Number: 2}); s.AtMost(9) != 2 {
		t.Errorf("2 of 9: %d", s.AtMost(9))
	}
}

// TestWaveWithoutMembers: what comes after it waits for what came before it.
func TestWaveWithoutMembers(t *testing.T) {
	t.Parallel()
	all := some()
	r, err := read(t, waves, all)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan([]Environment{all[4], all[1]}, r, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"test <", "wave:test < test", "eu-1 < wave:test"}, steps(p.Plan)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnmatchedIsAnError(t *testing.T) {
	t.Parallel()
	all := append(some(), fleetOf("dev stage=dev")...)
	r, err := read(t, waves, all)
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewPlan(all, r, true)
	if want := "config/environments/dev.yaml: dev is in no wave of config/rollout.yaml: its labels are environment=dev,stage=dev"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
