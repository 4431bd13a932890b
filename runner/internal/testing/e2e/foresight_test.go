package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/updateplan"
)

// newReaders creates an environment of three projects, each of which reads the previous
// one: in YAML, Go and YAML. The first exports a name, a key made of it, and the
// id of its network; the second passes them on; the third names a repository with
// the name, and keeps the key.
func newReaders(t *testing.T, engine string) *environment {
	t.Helper()
	e := newEnvironment(t, engine)
	e.useGo()
	program, err := filepath.Abs("../../../../projects/pulumi-language-go/testdata/reader")
	if err != nil {
		t.Fatal(err)
	}
	e.write("mara.yaml", "projects:\n  - path: greeting\n  - {path: hearing, reads: greeting}\n  - {path: app, reads: hearing}\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  runner:protect: true\n")
	e.write("hearing/Pulumi.yaml", "name: hearing\nruntime: go\nmain: "+program+"\n")
	e.write("greeting/Pulumi.yaml", `name: greeting
runtime: yaml
config:
  name: {type: string, default: team-a}
  range: {type: string, default: 10.0.0.0/16}
resources:
  vpc: {type: "aws:ec2:Vpc", properties: {cidrBlock: "${range}"}}
outputs:
  greeting: ${name}
  key: {fn::secret: "hunter2-${name}"}
  id: ${vpc.id}
`)
	e.write("app/Pulumi.yaml", `name: app
runtime: yaml
resources:
  hearing: {type: "pulumi:pulumi:StackReference", properties: {name: "${pulumi.organization}/hearing/${pulumi.stack}"}}
  repository: {type: "aws:ecr:Repository", properties: {name: '${hearing.outputs["heard"]}'}}
  key: {type: "pulumi:index:Stash", properties: {input: '${hearing.outputs["key"]}'}}
variables:
  name: {fn::stackReference: [organization/hearing/dev, heard]}
  network: {fn::stackReference: [organization/hearing/dev, id]}
outputs:
  id: ${hearing.outputs["id"]}
  name: ${name}
  address: https://${name}.${network}/
`)
	return e
}

// unknownIn returns, by project, the projects because of which its preview is partial.
func unknownIn(events []event.Event) map[string][]string {
	unknown := map[string][]string{}
	for name, step := range finished(events) {
		unknown[name] = step.Unknown
	}
	return unknown
}

// checkNewName renames what the first project exports: the previews of the others
// follow, the protection of the environment refuses what up would replace in the last,
// and a saved plan of it is carried out. The secret that is made of the name is
// neither printed nor written.
func (e *environment) checkNewName() {
	e.t.Helper()
	first := e.simulate(0, "preview")
	if diff := cmp.Diff(map[string][]string{"greeting": nil, "hearing": {"greeting"}, "app": {"hearing"}}, unknownIn(first)); diff != "" {
		e.t.Errorf("the first preview:\n%s", diff)
	}
	e.simulate(0, "up")

	renamed := []string{"--config", "greeting:name=team-b"}
	events := e.simulate(5, "preview", append(renamed, "--exit-code", "--save-plan", "plan.json")...)
	if got := finished(events)["app"].Changes; got.Replace != 1 || got.Update != 1 {
		e.t.Errorf("another name: app has %s", got)
	}
	if diff := cmp.Diff(map[string][]string{"greeting": nil, "hearing": nil, "app": nil}, unknownIn(events)); diff != "" {
		e.t.Errorf("everything is known, but:\n%s", diff)
	}
	document, err := updateplan.Read(filepath.Join(e.root, "plan.json"))
	if err != nil {
		e.t.Fatal(err)
	}
	isStash := func(s updateplan.Step) bool { return s.Type == "pulumi:index:Stash" && s.Op == "update" }
	if steps := document.Projects[2].Steps; !slices.ContainsFunc(steps, isStash) {
		e.t.Errorf("the plan does not update the stash: %+v", steps)
	}

	up := append([]string{"up", "--simulate", "--simulate-speed", "100000", "--yes", "--debug"}, renamed...)
	refused := e.run(up...)
	if refused.code != 1 || !strings.Contains(refused.stderr, "forbidden by the protection of the environment") ||
		!strings.Contains(refused.stderr, "repository would be replaced") {
		e.t.Errorf("up: exit code %d\n%s%s", refused.code, lastLines(refused.stdout), refused.stderr)
	}
	if strings.Contains(refused.stdout, "no price for aws:ec2/vpc:Vpc") {
		e.t.Errorf("a network is free, as a preview says:\n%s", lastLines(refused.stdout))
	}
	done := e.run(append(up, "--plan", "plan.json", "--unknown-programs", "allow", "--allow", "repository")...)
	if done.code != 0 || !strings.Contains(done.stdout, "1 updated, 1 replaced") {
		e.t.Errorf("up --plan: exit code %d\n%s%s", done.code, lastLines(done.stdout), done.stderr)
	}
	if state := e.read(".runner/simulated/state/.pulumi/stacks/app/dev.json"); !strings.Contains(state, `"inputs":{"name":"team-b"}`) {
		e.t.Error("the repository has another name")
	}
	if strings.Contains(refused.stdout+refused.stderr+done.stdout+done.stderr, "hunter2-team") {
		e.t.Error("a secret is printed")
	}
	e.checkNowhere("hunter2-team")
}

// TestForeseenValues: what a preview finds of the outputs of a project is what the
// previews of its readers read, and what guards judge.
func TestForeseenValues(t *testing.T) {
	t.Parallel()
	long(t)
	e := newReaders(t, embedded)
	e.checkNewName()
	e.checkPlannedProgram()

	// The id of the network is not known, and nothing that is made of it.
	events := e.simulate(0, "preview", "--config", "greeting:name=team-b", "--config", "greeting:range=10.1.0.0/16")
	if diff := cmp.Diff(map[string][]string{"greeting": nil, "hearing": {"greeting"}, "app": {"hearing"}}, unknownIn(events)); diff != "" {
		t.Errorf("another network:\n%s", diff)
	}
	for name, step := range finished(events) {
		if replaces := step.Changes.Replace > 0; replaces != (name == "greeting") {
			t.Errorf("another network: %s has %s", name, step.Changes)
		}
	}
	want := map[string][]string{"greeting": {"id: [unknown]"}, "hearing": {"id: [unknown]"}, "app": {"address: [unknown]", "id: [unknown]"}}
	if diff := cmp.Diff(want, newOutputs(events)); diff != "" {
		t.Errorf("another network:\n%s", diff)
	}
}

// checkPlannedProgram: an up that is held to a plan refuses another program, another
// configuration and another runner before anything is touched, and names the project.
func (e *environment) checkPlannedProgram() {
	e.t.Helper()
	args := []string{"--config", "greeting:name=team-c"}
	e.simulate(0, "preview", append(args, "--save-plan", "plan.json")...)
	refuse := func(want string, args ...string) {
		e.t.Helper()
		r := e.run(append([]string{"up", "--simulate", "--plan", "plan.json", "--yes"}, args...)...)
		if r.code != 3 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "nothing was changed") || !strings.Contains(r.stderr, "--save-plan plan.json") {
			e.t.Errorf("exit code %d, not %q:\n%s%s", r.code, want, lastLines(r.stdout), r.stderr)
		}
	}
	program := e.read("app/Pulumi.yaml")
	e.write("app/Pulumi.yaml", program+"  more: 1\n")
	refuse("--plan: changed since: program of app;", args...)
	e.write("app/Pulumi.yaml", program)
	refuse("the configuration has changed since", "--config", "greeting:name=team-d")
	plan := e.read("plan.json")
	e.write("plan.json", strings.Replace(plan, `"runner": "`, `"runner": "0.`, 1))
	refuse("another version of the runner", args...)
}

// newOutputs returns the outputs that change, with their new values, by project.
func newOutputs(events []event.Event) map[string][]string {
	outputs := map[string][]string{}
	for _, e := range events {
		for _, output := range e.Outputs {
			outputs[e.Project] = append(outputs[e.Project], fmt.Sprintf("%s: %v", output.Name, output.After))
		}
	}
	return outputs
}

// TestForeseenByPreviewsOnly: an up reads what was deployed, also when its own preview has found something else, and no
// other operation is given what a preview has found.
func TestForeseenByPreviewsOnly(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", `projects:
  - {path: source, hooks: [{name: surprise, run: [sh, -c, "printf real > value"], on: before, operations: [up], simulate: true}]}
  - {path: reader, reads: source}
`)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  runner:protect: true\n")
	e.write("source/value", "old")
	e.write("source/Pulumi.yaml", `name: source
runtime: yaml
outputs:
  value: {fn::readFile: "${pulumi.cwd}/value"}
`)
	e.write("reader/Pulumi.yaml", `name: reader
runtime: yaml
resources:
  source: {type: "pulumi:pulumi:StackReference", properties: {name: "${pulumi.organization}/source/${pulumi.stack}"}}
  kept: {type: "pulumi:index:Stash", properties: {input: '${source.outputs["value"]}'}}
outputs:
  heard: ${source.outputs["value"]}
`)
	heard := func() string {
		t.Helper()
		r := e.run("outputs", "--simulate", "reader", "heard")
		if r.code != 0 {
			t.Fatalf("exit code %d: %s", r.code, r.stderr)
		}
		return strings.TrimSpace(r.stdout)
	}
	e.simulate(0, "up")
	e.write("source/value", "foreseen")
	events := e.simulate(5, "preview", "--exit-code")
	if got := finished(events)["reader"].Changes.Update; got != 1 {
		t.Errorf("the preview of the reader shows %d updates, want that of the new value", got)
	}
	if got := finished(e.simulate(0, "up"))["reader"].Changes.Update; got != 0 || heard() != "real" {
		t.Errorf("up: %d updates, and the reader has heard %q, want what was deployed before", got, heard())
	}
	e.write("source/value", "foreseen")
	for _, args := range [][]string{{"refresh"}, {"drift", "--exit-code"}} {
		if e.simulate(0, args[0], args[1:]...); heard() != "real" {
			t.Errorf("%v: the reader has heard %q", args, heard())
		}
	}
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	e.simulate(0, "destroy")
}

// TestPartialWithStockEngine: an installed Pulumi previews readers with the outputs in
// the states, and says so over any number of hops.
func TestPartialWithStockEngine(t *testing.T) {
	t.Parallel()
	long(t)
	e := newReaders(t, stock)
	e.simulate(0, "up")
	events := e.simulate(0, "preview", "--config", "greeting:name=team-b")
	if diff := cmp.Diff(map[string][]string{"greeting": nil, "hearing": {"greeting"}, "app": {"hearing"}}, unknownIn(events)); diff != "" {
		t.Error(diff)
	}
}

// checkNowhere looks for a text in all files of the environment and of its home.
func (e *environment) checkNowhere(text string) {
	e.t.Helper()
	for _, root := range []string{e.root, e.home, e.temp} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || entry.Name() == "Pulumi.yaml" && filepath.Dir(filepath.Dir(path)) == e.root {
				return err
			}
			content, err := os.ReadFile(path)
			if strings.Contains(string(content), text) {
				at := strings.Index(string(content), text)
				e.t.Errorf("%s contains %q: ...%s", path, text, content[max(0, at-200):at+len(text)])
			}
			return err
		})
		if err != nil {
			e.t.Error(err)
		}
	}
}
