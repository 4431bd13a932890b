package e2e

import (
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

// changeable is an environment whose project app reads net. A hook or a person changes its program after the preview.
type changeable struct{ *environment }

const stateOfApp = ".runner/simulated/state/.pulumi/stacks/app/dev.json"

// programs of app: one that is deployed, one that updates its network, one that deletes it.
var deployed, updates, deletes = appFor("one"), appFor("two"), `name: app
runtime: yaml
outputs: {done: "yes"}
`

func appFor(team string) string {
	return `name: app
runtime: yaml
resources:
  network: {type: "aws:ec2:Vpc", properties: {cidrBlock: 10.1.0.0/16, tags: {team: ` + team + `}}}
`
}

// newChanging deploys the environment. hook is a shell command that runs before app is brought up; "" for none.
func newChanging(t *testing.T, config, hook string) changeable {
	t.Helper()
	c := changeable{newEnvironment(t, embedded)}
	c.write("config/pulumi/Pulumi.dev.yaml", config)
	c.write("net/Pulumi.yaml", "name: net\nruntime: yaml\nresources:\n"+
		"  vpc: {type: \"aws:ec2:Vpc\", properties: {cidrBlock: 10.0.0.0/16}}\noutputs: {id: \"${vpc.id}\"}\n")
	c.write("app/Pulumi.yaml", deployed)
	c.write("mara.yaml", "projects:\n  - path: net\n  - {path: app, reads: net}\n")
	c.simulate(0, "up")
	if hook != "" {
		c.write("change.sh", "#!/bin/sh\n"+hook+"\n")
		c.write("mara.yaml", "projects:\n  - path: net\n  - path: app\n    reads: net\n    hooks:\n"+
			"      - {name: change, run: [sh, ../change.sh], on: before, operations: [up], simulate: true}\n")
	}
	c.write("app/Pulumi.yaml", updates)
	return c
}

// TestApprovalBindsTheProgram: a program that changes between its preview and its turn is previewed again. What the
// approved preview did not show is refused, and a change without consequences goes on.
func TestApprovalBindsTheProgram(t *testing.T) {
	t.Parallel()
	const protect = "config: {runner:protect: true}\n"
	generates := "cat > Pulumi.yaml <<'END'\n" + deletes + "END"
	for name, test := range map[string]struct {
		config, hook string
		args         []string
		code         int
		want         string // in the error of app
		deleted      bool
	}{
		"a deletion in a protected environment": {protect, generates, nil, 1, "has changed since it was previewed (the file app/Pulumi.yaml)", false},
		"that is allowed":                       {protect, generates, []string{"--allow", "network"}, 0, "", true},
		"a comment":                             {protect, "echo '# generated' >> Pulumi.yaml", nil, 0, "", false},
		"a deletion against a rule": {"config: {}\n", generates, []string{"--auto-approve-if", "no-deletes"}, 1,
			"has changed since it was previewed", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChanging(t, test.config, test.hook)
			args := append([]string{"up", "--simulate", "--simulate-speed", "100000", "-o", "json"}, test.args...)
			if len(test.args) == 0 || test.args[0] != "--auto-approve-if" {
				args = append(args, "--yes")
			}
			r := c.run(args...)
			if r.code != test.code {
				t.Fatalf("exit code %d, want %d\n%s%s", r.code, test.code, lastLines(r.stdout), r.stderr)
			}
			app := finished(decode(t, r.stdout))["app"]
			if !strings.Contains(app.Error, test.want) || (test.code != 0) != (app.Result == event.Failed) {
				t.Errorf("app: %s: %s", app.Result, app.Error)
			}
			if gone := !strings.Contains(c.read(stateOfApp), "10.1.0.0/16"); gone != test.deleted {
				t.Errorf("the network is gone: %t", gone)
			}
		})
	}
}

// TestApprovalOnATerminal: the program changes while the question is on the screen. Another question follows; no is the
// end, and yes goes on.
func TestApprovalOnATerminal(t *testing.T) {
	t.Parallel()
	c := newChanging(t, "config: {}\n", "")
	up := []string{"up", "--simulate", "--simulate-speed", "100000", "--ui", "plain"}
	for _, answer := range []struct {
		key  string
		code int
	}{{"n", 1}, {"y", 0}} {
		c.write("app/Pulumi.yaml", updates)
		person := c.sit(up...)
		person.Expect("Deploy this to the stack dev")
		c.write("app/Pulumi.yaml", deletes)
		person.answer(typed("Deploy this to the stack dev", "y"), typed("Continue?", answer.key))
		screen := person.end(answer.code)
		if !strings.Contains(strings.Join(strings.Fields(screen), " "), "app has changed since it was shown (the file app/Pulumi.yaml), and would now do: delete of aws:ec2/vpc:Vpc network, not update") {
			t.Errorf("%s: the screen does not say what has changed:\n%s", answer.key, lastLines(screen))
		}
		if gone := !strings.Contains(c.read(stateOfApp), "10.1.0.0/16"); gone != (answer.key == "y") {
			t.Errorf("%s: the network is gone: %t", answer.key, gone)
		}
	}
}

// TestDetailsAtTheQuestion: whoever is asked can see every value first, and can save what is shown as a plan instead,
// which an up carries out later. A program that has changed since is in no plan.
func TestDetailsAtTheQuestion(t *testing.T) {
	t.Parallel()
	c := newChanging(t, "config: {}\n", "")
	long := strings.Repeat("x", 300)
	c.write("app/Pulumi.yaml", appFor(long))
	up := []string{"up", "--simulate", "--simulate-speed", "100000", "--ui", "plain"}
	const question = "Deploy this to the stack dev (1 to update)? (y/N, d details, o only some projects, p save as a plan)"

	person := c.sit(up...)
	person.answer(typed(question, "d"), typed(long, "n"))
	if screen := person.end(1); strings.Count(screen, "(y/N, d details") < 2 {
		t.Errorf("the question does not follow its details:\n%s", screen)
	}
	person = c.sit(up...)
	person.Expect(question)
	c.write("app/Pulumi.yaml", deletes)
	person.answer(typed(question, "p"))
	if screen := strings.Join(strings.Fields(person.end(3)), " "); !strings.Contains(screen, "app has changed since it was previewed (the file app/Pulumi.yaml)") {
		t.Errorf("the plan of a program that has changed is not refused:\n%s", screen)
	}
	c.write("app/Pulumi.yaml", updates)
	person = c.sit(up...)
	person.answer(typed(question, "p"), typed("File of the plan", ""))
	_, command, found := strings.Cut(person.end(0), "Next: runner ")
	if strings.Contains(c.read(stateOfApp), `"two"`) {
		t.Error("saving the plan has deployed it")
	}
	command = strings.Join(strings.Fields(command), " ")
	if !found || !strings.Contains(command, "dev.plan.json --plan-digest ") {
		t.Fatalf("the next command is %q", command)
	}
	if r := c.run(append(strings.Fields(command), "--simulate-speed", "100000")...); r.code != 0 || !strings.Contains(c.read(stateOfApp), `"two"`) {
		t.Errorf("%s: exit code %d: %s", command, r.code, r.stderr)
	}
}

// TestSomeProjectsAtTheQuestion: whoever is asked can choose some of the projects, and is asked again about a preview of
// these.
func TestSomeProjectsAtTheQuestion(t *testing.T) {
	t.Parallel()
	c := newChanging(t, "config: {}\n", "")
	c.write("net/Pulumi.yaml", c.read("net/Pulumi.yaml")+"  other: {value: new}\n")
	c.write("net/Pulumi.yaml", strings.Replace(c.read("net/Pulumi.yaml"), "10.0.0.0/16}", "10.0.0.0/16, tags: {team: net}}", 1))
	c.write("net/Pulumi.yaml", strings.Replace(c.read("net/Pulumi.yaml"), "  other: {value: new}\n", "", 1))
	person := c.sit("up", "--simulate", "--simulate-speed", "100000", "--ui", "plain")
	const down, space = "\x1b[B", " "
	person.answer(typed("Deploy this to the stack dev (2 to update)?", "o"), chosen("Projects to deploy", down+space+"\r"),
		typed("Deploy this to the stack dev (1 to update)?", "y"))
	screen := person.end(0)
	if !strings.Contains(c.read(stateOfApp), `"two"`) || strings.Contains(c.read(".runner/simulated/state/.pulumi/stacks/net/dev.json"), `"team"`) {
		t.Errorf("not app alone was deployed:\n%s", screen)
	}
}

// TestValuesAreNotShown: where the root or the command says so, no screen, event or report has a value that differs.
func TestValuesAreNotShown(t *testing.T) {
	t.Parallel()
	c := newChanging(t, "config: {}\n", "")
	c.write("app/Pulumi.yaml", appFor("valuable")+"outputs: {shown: \"${network.tags.team}\"}\n")
	preview := []string{"preview", "--simulate", "--simulate-speed", "100000", "--full", "--report", "report.html"}
	if r := c.run(preview...); r.code != 0 || !strings.Contains(r.stdout, `"one" => "valuable"`) {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	mara := c.read("mara.yaml")
	for name, words := range map[string][]string{"in mara.yaml": preview, "as a flag": append(preview, "--no-values"), "in events": append(preview, "--no-values", "-o", "json")} {
		if name == "in mara.yaml" {
			c.write("mara.yaml", mara+"preview: {values: off}\n")
		} else {
			c.write("mara.yaml", mara)
		}
		r := c.run(words...)
		if text := r.stdout + r.stderr + c.read("report.html"); r.code != 0 || strings.Contains(text, "valuable") || !strings.Contains(r.stdout, "tags") || !strings.Contains(r.stdout, "shown") {
			t.Errorf("%s: exit code %d, and a value, or no path:\n%s", name, r.code, r.stdout)
		}
	}
}

// TestNoLookWithoutAChange: what has not changed since its preview is previewed once.
func TestNoLookWithoutAChange(t *testing.T) {
	t.Parallel()
	c := newChanging(t, "config: {runner:protect: true}\n", "")
	for _, e := range c.simulate(0, "up") {
		if strings.Contains(e.Message, "previewed again") {
			t.Errorf("%s: %s", e.Project, e.Message)
		}
	}
}

// TestRefusedFleetChangesNothing: an up in a fleet that its preview refuses reports no changes, though the preview had
// some.
func TestRefusedFleetChangesNothing(t *testing.T) {
	t.Parallel()
	c := newChanging(t, "config: {runner:protect: true}\n", "")
	c.write("app/Pulumi.yaml", deletes)
	r := c.run("fleet", "up", "dev", "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json")
	if r.code != 1 || !strings.Contains(r.stdout, "forbidden by the protection of the environment") {
		t.Fatalf("exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	events := decode(t, r.stdout)
	if last := events[len(events)-1]; last.Type != event.RunFinished || last.Changes.Any() || finished(events)["dev"].Changes.Any() {
		t.Errorf("it reports the changes %s, and of the environment %s", last.Changes, finished(events)["dev"].Changes)
	}
}

// TestPlanOfAnotherPlace: a saved plan and a record hold the values of the environment file: the same programs with another
// account are another plan, and what ran there is not up to date.
func TestPlanOfAnotherPlace(t *testing.T) {
	t.Parallel()
	for name, changed := range map[string]string{
		"AWS_PROFILE in config/pulumi/environment": "AWS_PROFILE=prod\nPIN=1234\n",
		"config/pulumi/environment (its values)":   "AWS_PROFILE=dev\nPIN=4321\n",
	} {
		c := newChanging(t, "config: {}\n", "")
		c.write("config/pulumi/environment", "AWS_PROFILE=dev\nPIN=1234\n")
		c.simulate(0, "up", "--allow", "other-account") // it was deployed without a profile
		c.write("app/Pulumi.yaml", updates+"# another\n")
		c.simulate(0, "preview", "--save-plan", "plan.json")
		if plan := c.read("plan.json"); strings.Contains(plan, "1234") {
			t.Errorf("the plan has a value of the environment file: %s", plan)
		}
		c.write("config/pulumi/environment", changed)
		c.expect(3, "up --simulate --simulate-speed 100000 --plan plan.json", "the configuration has changed since: "+name+"; nothing was changed")
		if strings.HasPrefix(name, "AWS") {
			c.expect(0, "fleet status --simulate", name)
		}
	}
}
