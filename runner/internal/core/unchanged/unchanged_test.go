package unchanged_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/config"
	"mara/projects/model/operation"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/unchanged"
)

// files are an environment with a project app that reads net, and a project other beside them, all deployed.
func files() map[string]string {
	return map[string]string{
		"mara.yaml":                     "projects:\n- {path: net}\n- {path: app, reads: [net]}\n- {path: other}\n",
		"net/Pulumi.yaml":               "name: net\nruntime: yaml\noutputs: {id: vpc-1}\n",
		"app/Pulumi.yaml":               "name: app\nruntime: yaml\nconfig: {size: {type: string}}\n",
		"app/template.txt":              "hello\n",
		"other/Pulumi.yaml":             "name: other\nruntime: yaml\n",
		"config/pulumi/environment":     "PULUMI_STACK=dev\nREGION=here\n",
		"config/pulumi/Pulumi.dev.yaml": "config:\n  app:size: small\n  other:color: red\n",
		"bin/mara-engine":               "an engine",
		"bin/pulumi-language-mara":      "a host",
		state("net"):                    stateWith(`{"id":"vpc-1","key":"secret"}`),
		state("app"):                    stateWith(`{}`),
		state("other"):                  stateWith(`{}`),
	}
}

// state returns the file with a project's state.
func state(project string) string { return ".runner/state/.pulumi/stacks/" + project + "/dev.json" }

// stateWith returns a state with outputs of the stack.
func stateWith(outputs string) string {
	return `{"version":3,"checkpoint":{"stack":"organization/p/dev","latest":{"resources":[{"urn":"urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev","type":"pulumi:pulumi:Stack","outputs":` + outputs + `}]}}}`
}

// opened is an environment in which a run looks at what has changed.
type opened struct {
	t        *testing.T
	session  *session.Open
	projects *unchanged.Projects
}

// open opens the environment of a root for a run.
func open(t *testing.T, root, run string, maySkip bool) opened {
	t.Helper()
	known, err := catalogue.Load(nil, root, "")
	if err != nil {
		t.Fatal(err)
	}
	file, err := config.ReadEnvironment(root)
	if err != nil {
		t.Fatal(err)
	}
	d := session.Deps{Engines: []string{filepath.Join(root, "bin/mara-engine")}}
	d.Stderr = t.Output()
	o := session.Options{Operation: operation.Up, Request: request.Request{
		Root: root, Catalogue: &known, Sources: config.Sources{File: file, Process: []string{"PULUMI_CONFIG_PASSPHRASE=x"}},
	}}
	s, err := session.ResolveToOperate(d, o)
	t.Cleanup(func() { _ = s.Close() })
	if err != nil {
		t.Fatal(err)
	}
	reading, err := s.ReadKnown()
	if err != nil {
		t.Fatal(err)
	}
	opened := opened{t: t, session: &session.Open{Reading: reading, Held: &session.Locked{Resolved: s, RunID: run}}}
	opened.projects = unchanged.New(opened.session, maySkip)
	if opened.projects == nil {
		t.Fatal("nothing can be compared")
	}
	return opened
}

// step returns the step of a project.
func (o opened) step(project string) plan.Step {
	for _, step := range o.session.Plan.Steps {
		if step.Project.Name == project {
			return step
		}
	}
	o.t.Fatalf("the plan has no %s", project)
	return plan.Step{}
}

// look returns the run since which a project is unchanged, or why it runs.
func (o opened) look(project string) (run, why string) {
	o.t.Helper()
	run, err := o.projects.LastRun(o.t.Context(), o.step(project), func(e event.Event) { why = strings.Join(e.Why, ", ") })
	if err != nil {
		o.t.Fatal(err)
	}
	return run, why
}

// succeed has all projects succeed, with what their programs have asked.
func (o opened) succeed(outcome stacks.Outcome, warnings ...event.Alert) {
	o.t.Helper()
	summary := event.Summary{Warnings: warnings}
	for _, step := range o.session.Plan.Steps {
		o.look(step.Project.Name)
		o.projects.Done(o.t.Context(), step, outcome)
		summary.Steps = append(summary.Steps, event.Step{Project: event.Project{Name: step.Project.Name}, Result: event.Succeeded})
	}
	if err := o.projects.Keep(&summary, journal.Outputs{}); err != nil {
		o.t.Fatal(err)
	}
}

// write writes files below a root; "" removes one.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		if content == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// says reports whether it is said why a project runs. One of 4,096 changes leaves the hint of a name as it was, and then the name is
// not known.
func says(why, want string) bool {
	for noun, vague := range map[string]string{
		"the file": "its program", "the key": "its configuration", "the output": "a secret output of net", "the environment": "a secret environment variable",
	} {
		if strings.HasPrefix(want, noun) && why == vague {
			return true
		}
	}
	return why == want
}

// asksNothing is what a program without functions leaves.
func asksNothing() stacks.Outcome { return stacks.Outcome{Asked: []string{}} }

// TestWhatRunsAgain: after an up in which all projects succeeded, one thing changes. It names the projects that run again, and why;
// all others are skipped.
func TestWhatRunsAgain(t *testing.T) {
	t.Parallel()
	const stack = "config/pulumi/Pulumi.dev.yaml"
	all := func(why string) map[string]string { return map[string]string{"net": why, "app": why, "other": why} }
	for name, test := range map[string]struct {
		change map[string]string
		want   map[string]string
	}{
		"nothing":                      {nil, nil},
		"a program":                    {map[string]string{"app/Pulumi.yaml": "name: app\nruntime: yaml\nconfig: {size: {type: string}}\nvariables: {a: b}\n"}, map[string]string{"app": "the file app/Pulumi.yaml"}},
		"a file beside a program":      {map[string]string{"app/template.txt": "good bye\n"}, map[string]string{"app": "the file app/template.txt"}},
		"a new file beside a program":  {map[string]string{"app/more.txt": "x\n"}, map[string]string{"app": "the file app/more.txt"}},
		"a file less beside a program": {map[string]string{"app/template.txt": ""}, map[string]string{"app": "the file app/template.txt"}},
		// A program can read each key of the shared stack file, whatever it is called.
		"a value":                  {map[string]string{stack: "config:\n  app:size: large\n  other:color: red\n"}, all("the key app:size")},
		"a comment beside a value": {map[string]string{stack: "# of this week\nconfig:\n  app:size: small\n  other:color: red\n"}, nil},
		"a value less":             {map[string]string{stack: "config:\n  app:size: small\n"}, all("the key other:color")},
		"an output that is read": {map[string]string{state("net"): stateWith(`{"id":"vpc-2","key":"secret"}`)}, map[string]string{
			"net": "its state, which something else has changed", "app": "the output id of net",
		}},
		"a state":           {map[string]string{state("other"): stateWith(`{"a":1}`)}, map[string]string{"other": "its state, which something else has changed"}},
		"no state any more": {map[string]string{state("other"): ""}, map[string]string{"other": "its state, which something else has changed"}},
		"the engine":        {map[string]string{"bin/mara-engine": "a newer engine"}, all("the runner, its engine or a program that it starts")},
		"the order":         {map[string]string{"mara.yaml": "projects:\n- {path: net}\n- {path: app, reads: [net, other]}\n- {path: other}\n"}, map[string]string{"app": "the outputs of other, which it did not read before, its place in the plan"}},
		"a variable":        {map[string]string{"config/pulumi/environment": "PULUMI_STACK=dev\nREGION=there\n"}, all("the environment variable REGION")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, root, files())
			open(t, root, "first", true).succeed(asksNothing())
			write(t, root, test.change)
			again := open(t, root, "second", true)
			for _, project := range []string{"net", "app", "other"} {
				run, why := again.look(project)
				if want := test.want[project]; !says(why, want) || (run == "first") != (want == "") {
					t.Errorf("%s: unchanged since run %q, runs because of %q, want %q", project, run, why, want)
				}
			}
		})
	}
}

// TestSuccessesThatDoNotCount: after these ups all projects run again, although nothing has changed.
func TestSuccessesThatDoNotCount(t *testing.T) {
	t.Parallel()
	warning := event.Alert{Project: "app", Message: "the runner warns"}
	for name, test := range map[string]struct {
		up   func(opened)
		want map[string]string
	}{
		"asked a cloud": {func(o opened) { o.succeed(stacks.Outcome{Asked: []string{"aws:index/getAmi:getAmi"}}) }, map[string]string{
			"app": "its program asks aws:index/getAmi:getAmi, whose answer may change",
		}},
		"nobody says what it asked": {func(o opened) { o.succeed(stacks.Outcome{}) }, map[string]string{"app": "what its program asks is not known"}},
		"warned about":              {func(o opened) { o.succeed(asksNothing(), warning) }, map[string]string{"app": "the runner has warned about it in run first", "net": ""}},
		"failed": {func(o opened) {
			o.look("app")
		}, map[string]string{"app": "no success is recorded here"}},
		"drifted": {func(o opened) {
			o.succeed(asksNothing())
			found := event.Summary{Steps: []event.Step{{Project: event.Project{Name: "app"}, Changes: event.Changes{Update: 1}}, {Project: event.Project{Name: "net"}}}}
			if err := unchanged.InvalidateDrifted(o.session.Resolved, &found); err != nil {
				o.t.Error(err)
			}
		}, map[string]string{"app": "its last run did not succeed, or it has drifted", "net": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, root, files())
			test.up(open(t, root, "first", true))
			again := open(t, root, "second", true)
			for project, want := range test.want {
				if _, why := again.look(project); why != want {
					t.Errorf("%s runs because of %q, want %q", project, why, want)
				}
			}
		})
	}
}

// TestForcedAndResumed: an operation that runs all projects says that nothing has changed; what the run that it resumes has done is
// skipped all the same, while it is unchanged.
func TestForcedAndResumed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, files())
	open(t, root, "first", true).succeed(asksNothing())
	forced := open(t, root, "second", false)
	if run, why := forced.look("other"); run != "" || why != "nothing has changed, and this operation runs all projects" {
		t.Errorf("unchanged since run %q, runs because of %q", run, why)
	}
	resumed := open(t, root, "third", false)
	resumed.projects.Resume([]string{"app"})
	if run, why := resumed.look("app"); run != "first" {
		t.Errorf("unchanged since run %q, runs because of %q", run, why)
	}
	write(t, root, map[string]string{"app/template.txt": "good bye\n"})
	changed := open(t, root, "fourth", false)
	changed.projects.Resume([]string{"app"})
	if run, why := changed.look("app"); run != "" || !says(why, "the file app/template.txt") {
		t.Errorf("unchanged since run %q, runs because of %q", run, why)
	}
}

// TestLooks: what changes between a look and another, as between a preview and its up.
func TestLooks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, files())
	o := open(t, root, "first", true)
	o.succeed(asksNothing())
	before := o.projects.Look(o.step("app"))
	if changed := o.projects.ChangedSources(o.step("app"), before); len(changed) > 0 {
		t.Errorf("changed: %q", changed)
	}
	if !o.projects.MaySkip(o.step("app"), before) {
		t.Error("it would run, although nothing has changed")
	}
	write(t, root, map[string]string{"app/template.txt": "good bye\n", state("net"): stateWith(`{"id":"vpc-2"}`)})
	later := open(t, root, "second", true)
	if changed := later.projects.ChangedSources(later.step("app"), before); len(changed) != 1 || !says(changed[0], "the file app/template.txt") {
		t.Errorf("changed: %q", changed)
	}
	if later.projects.MaySkip(later.step("app"), later.projects.Look(later.step("app"))) {
		t.Error("it would be skipped, although a file has changed")
	}
	if changed := unchanged.ChangedSources(later.session.Resolved, later.step("app")); len(changed) != 1 {
		t.Errorf("changed: %q", changed)
	}
	if changed := o.projects.ChangedSources(o.step("app"), unchanged.Look{}); !slices.Equal(changed, []string{unchanged.Incomparable}) {
		t.Errorf("what cannot be compared: %q", changed)
	}
	var nothing *unchanged.Projects
	if run, err := nothing.LastRun(t.Context(), o.step("app"), nil); run != "" || err != nil {
		t.Errorf("without fingerprints: run %q, %v", run, err)
	}
}
