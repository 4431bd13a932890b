package record

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/inputs"
)

// rolledOut records an up of these steps, words such as a=succeeded.
func rolledOut(r *Record, id string, op operation.Operation, values, steps string, whole bool, done ...string) {
	r.begin(
		id,
		Run{
			Operation: op, Commit: "c0", Runner: "1.2.3", Host: "here", Root: "/root",
			Values: fingerprint.Fingerprint{"size": values},
		}, nil,
	)
	var ended []event.Step
	for word := range strings.FieldsSeq(steps) {
		name, result, _ := strings.Cut(word, "=")
		step := event.Step{Project: event.Project{Name: name}, Started: time.Unix(1, 0), Result: event.Result(result)}
		switch result {
		case "never":
			step.Started, step.Result = time.Time{}, event.Skipped
		case "unchanged":
			step.Result, step.Unchanged = event.Skipped, "earlier"
		}
		ended = append(ended, step)
	}
	r.end(Ending{Finished: time.Unix(2, 0), Steps: ended, Done: done, Whole: whole,
		Program: func(project string) fingerprint.Fingerprint {
			return fingerprint.Fingerprint{inputs.ProgramPart: project + id, inputs.RunnerPart: "r"}
		}})
}

// atPresent returns the environment as it was rolled out by the run one.
func atPresent() present {
	return present{
		projects: []string{"a", "b"}, values: fingerprint.Fingerprint{"size": "small"},
		programs: map[string]fingerprint.Fingerprint{
			"a": {inputs.ProgramPart: "aone", inputs.RunnerPart: "r"}, "b": {inputs.ProgramPart: "bone", inputs.RunnerPart: "r"},
		},
		mayRead: func(string, string) bool { return true },
		commit:  func() string { return "c0" }, host: "here", root: "/root", runner: "1.2.3",
	}
}

// TestChangesOfProjects: a change is known of the projects that it is about: those that may read a key, or whose program it is.
func TestChangesOfProjects(t *testing.T) {
	t.Parallel()
	r, now := Record{}, atPresent()
	rolledOut(&r, "one", operation.Up, "small", "a=succeeded b=succeeded", true)
	now.values = fingerprint.Fingerprint{"size": "large"}
	now.programs["b"] = fingerprint.Fingerprint{inputs.ProgramPart: "new", inputs.RunnerPart: "r"}
	now.mayRead = func(project, _ string) bool { return project == "a" }
	now.outputs = func() []change { return []change{{"b", "outputs of a, which b reads"}} }
	v := r.compare(now)
	want := map[string][]string{"a": {"size"}, "b": {"program of b", "outputs of a, which b reads"}}
	if diff := cmp.Diff(want, v.Of); diff != "" || len(v.Changes) != 3 {
		t.Errorf("all: %q (-want +got):\n%s", v.Changes, diff)
	}
}

// TestWhatRan: the record knows of each project what ran, whatever lies on the disk, and whether it succeeded.
func TestWhatRan(t *testing.T) {
	t.Parallel()
	const up, destroy = operation.Up, operation.Destroy
	type action func(r *Record, now *present)
	do := func(id string, op operation.Operation, values, steps string, whole bool) action {
		return func(r *Record, _ *present) { rolledOut(r, id, op, values, steps, whole) }
	}
	killed := func(op operation.Operation, touches ...string) action {
		return func(r *Record, _ *present) { r.begin("killed", Run{Operation: op, Host: "here"}, touches) }
	}
	resumed := func(id string, op operation.Operation, steps string, done ...string) action {
		return func(r *Record, _ *present) { rolledOut(r, id, op, "small", steps, false, done...) }
	}
	all := do("one", up, "small", "a=succeeded b=succeeded", true)
	for name, test := range map[string]struct {
		actions []action
		want    string
	}{
		"nothing":   {nil, "never rolled out: has never been rolled out"},
		"all":       {[]action{all}, "up to date: "},
		"unchanged": {[]action{all, do("one", up, "small", "a=unchanged b=unchanged", true)}, "up to date: "},
		"a part":    {[]action{do("one", up, "small", "a=succeeded", false)}, "partly: never rolled out: b"},
		"both parts": {
			[]action{do("one", up, "small", "a=succeeded", false), do("one", up, "small", "b=succeeded", false)}, "up to date: ",
		},
		"a failure": {
			[]action{all, do("two", up, "small", "a=failed b=never", true)}, "failed: did not succeed: a (up, two)",
		},
		"a value": {
			[]action{all, func(_ *Record, now *present) { now.values = fingerprint.Fingerprint{"size": "large"} }},
			"changed: size",
		},
		"a value of one": {
			[]action{all, do("two", up, "large", "a=failed b=never", true), do("one", up, "small", "a=succeeded", false)},
			"up to date: ",
		},
		"another program": {[]action{all, func(_ *Record, now *present) {
			now.programs["b"] = fingerprint.Fingerprint{inputs.ProgramPart: "new", inputs.RunnerPart: "r"}
		}}, "changed: program of b"},
		"only some resources": {[]action{all, func(r *Record, _ *present) {
			r.begin("two", Run{Operation: up, Host: "here", Root: "/root", Values: fingerprint.Fingerprint{"size": "small"}}, []string{"b"})
			step := event.Step{Project: event.Project{Name: "b"}, Started: time.Unix(1, 0), Result: event.Succeeded}
			r.end(Ending{Finished: time.Unix(2, 0), Steps: []event.Step{step}, Limited: true,
				Program: func(string) fingerprint.Fingerprint {
					return fingerprint.Fingerprint{inputs.ProgramPart: "bone", inputs.RunnerPart: "r"}
				}})
		}}, "changed: the resources of b that --target left out"},
		"resumed meanwhile": {[]action{all, do("two", up, "small", "b=succeeded", false)}, "changed: program of b"},
		"a part destroyed":  {[]action{all, do("two", destroy, "", "b=succeeded", false)}, "partly: never rolled out: b"},
		"all destroyed": {
			[]action{all, do("two", destroy, "", "a=succeeded b=skipped", true)}, "destroyed: has been destroyed",
		},
		"bit by bit": {
			[]action{all, do("two", destroy, "", "a=succeeded", false), do("three", destroy, "", "b=succeeded", false)},
			"destroyed: has been destroyed",
		},
		"part of unknown": {
			[]action{do("two", destroy, "", "b=succeeded", false)}, "never rolled out: has never been rolled out",
		},
		"destroy failed": {
			[]action{all, do("two", destroy, "", "b=succeeded a=failed", true)},
			"failed: did not succeed: a (destroy, two); never rolled out: b",
		},
		"killed": {[]action{all, func(r *Record, _ *present) {
			r.begin("two", Run{Operation: destroy, Host: "here"}, []string{"a", "b"})
		}}, "unfinished: destroy in run two has not ended"},
		"killed there": {[]action{all, func(r *Record, _ *present) {
			r.begin("two", Run{Operation: up, Host: "there"}, []string{"a", "b"})
		}}, "unfinished: up in run two on there has not ended"},
		"killed first": {[]action{func(r *Record, _ *present) {
			r.begin("two", Run{Operation: up, Host: "here"}, []string{"a", "b"})
		}}, "unfinished: up in run two has not ended; never rolled out: a, b"},
		"killed up, resumed": {[]action{killed(up, "a", "b"), resumed("one", up, "b=succeeded", "a")}, "up to date: "},
		"killed up, a part": {
			[]action{all, killed(up, "a", "b"), do("one", up, "small", "b=succeeded", false)},
			"unfinished: did not come to their end: a (up, killed)",
		},
		"killed, and not its part": {
			[]action{all, killed(up, "b"), do("one", up, "small", "b=succeeded", false)}, "up to date: ",
		},
		"killed destroy, resumed": {
			[]action{all, killed(destroy, "a", "b"), resumed("two", destroy, "b=succeeded", "a")},
			"destroyed: has been destroyed",
		},
		"killed destroy, a part": {
			[]action{all, killed(destroy, "a", "b"), do("one", up, "small", "b=succeeded", false)},
			"unfinished: did not come to their end: a (destroy, killed)",
		},
		"another runner": {[]action{all, func(_ *Record, now *present) {
			now.runner, now.programs["a"][inputs.RunnerPart] = "1.2.4", "new"
		}}, "changed: the runner and its programs"},
		"the same runner elsewhere": {[]action{all, func(_ *Record, now *present) {
			now.host, now.programs["a"][inputs.RunnerPart] = "there", "installed there"
		}}, "up to date: "},
		"the same commit elsewhere": {
			[]action{all, func(_ *Record, now *present) { now.host, now.programs["a"][inputs.ProgramPart] = "there", "large file" }},
			"up to date: ",
		},
		"another commit elsewhere": {[]action{all, func(_ *Record, now *present) {
			now.host, now.programs["a"][inputs.ProgramPart], now.commit = "there", "new", func() string { return "c1" }
		}}, "changed: program of a"},
		"no fingerprint, same commit": {
			[]action{all, func(_ *Record, now *present) { delete(now.programs, "a") }}, "up to date: ",
		},
		"no fingerprint": {[]action{all, func(_ *Record, now *present) {
			delete(now.programs, "a")
			now.commit = func() string { return "c0" + gitsource.Changes }
		}}, "changed: program of a, which cannot be compared"},
		"an old record": {
			[]action{func(r *Record, _ *present) { r.Run, r.Format = "x", 0 }}, "never rolled out: has never been rolled out",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r Record
			now := atPresent()
			for _, act := range test.actions {
				act(&r, &now)
			}
			v := r.compare(now)
			if got := v.State + ": " + strings.Join(v.Reasons(), "; "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if len(r.Runs) > 3 {
				t.Errorf("%d runs are kept", len(r.Runs))
			}
		})
	}
}

// TestRan: what gates have passed for is the values and programs that ran, whatever run it was.
func TestRan(t *testing.T) {
	t.Parallel()
	rolled := func(id, values, steps string) (r Record) {
		rolledOut(&r, id, operation.Up, values, steps, true)
		return r
	}
	ran := func(r Record) string {
		t.Helper()
		digest, err := r.ran()
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	same := rolled("1", "small", "a=succeeded b=succeeded")
	first := ran(same)
	same.Run, same.Runs["again"] = "again", same.Runs["1"]
	for name, project := range same.Projects {
		project.Run = "again"
		same.Projects[name] = project
	}
	if ran(same) != first {
		t.Error("a later run of the same is another one")
	}
	for name, other := range map[string]Record{
		"another value":   rolled("1", "large", "a=succeeded b=succeeded"),
		"another program": rolled("2", "small", "a=succeeded b=succeeded"),
		"a project fewer": rolled("1", "small", "a=succeeded"),
		"another project": rolled("1", "small", "a=succeeded c=succeeded"),
	} {
		if ran(other) == first {
			t.Errorf("%s: the same", name)
		}
	}
}
