package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/event"
	"mara/runner/internal/updateplan"
)

// newReaders is an environment of three projects, each of which reads the one
// before: in YAML, Go and YAML. The first exports a name, a key made of it, and the
// id of its network; the second passes them on; the third names a repository with
// the name, and keeps the key.
func newReaders(t *testing.T, engine string) *environment {
	t.Helper()
	e := newEnvironment(t, engine)
	e.useGo()
	program, err := filepath.Abs("../../../projects/pulumi-language-go/testdata/reader")
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
outputs:
  id: ${hearing.outputs["id"]}
`)
	return e
}

// unknownIn are the projects that previews are partial because of, by project.
func unknownIn(events []event.Event) map[string][]string {
	unknown := map[string][]string{}
	for name, step := range finished(events) {
		unknown[name] = step.Unknown
	}
	return unknown
}

// TestForeseenValues: what a preview finds of the outputs of a project is what the
// previews of its readers read, and what guards judge. Secrets among them are not
// written anywhere.
func TestForeseenValues(t *testing.T) {
	t.Parallel()
	e := newReaders(t, embedded)
	first := e.simulate(0, "preview")
	if diff := cmp.Diff(map[string][]string{"greeting": nil, "hearing": {"greeting"}, "app": {"hearing"}}, unknownIn(first)); diff != "" {
		t.Errorf("the first preview:\n%s", diff)
	}
	e.simulate(0, "up")

	renamed := []string{"--config", "greeting:name=team-b"}
	events := e.simulate(5, "preview", append(renamed, "--exit-code", "--save-plan", "plan.json")...)
	if got := finished(events)["app"].Changes; got.Replace != 1 || got.Update != 1 {
		t.Errorf("another name: app has %s", got)
	}
	if diff := cmp.Diff(map[string][]string{"greeting": nil, "hearing": nil, "app": nil}, unknownIn(events)); diff != "" {
		t.Errorf("everything is known, but:\n%s", diff)
	}
	document, err := updateplan.Read(filepath.Join(e.root, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	if steps := document.Projects[2].Steps; !slices.ContainsFunc(steps, func(s updateplan.Step) bool { return s.Type == "pulumi:index:Stash" && s.Op == "update" }) {
		t.Errorf("the plan knows nothing of the stash: %+v", steps)
	}
	up := append([]string{"up", "--simulate", "--simulate-speed", "100000", "--yes"}, renamed...)
	if r := e.run(up...); r.code != 1 || !strings.Contains(r.stderr, "forbidden by the protection of the environment") || !strings.Contains(r.stderr, "repository would be replaced") {
		t.Errorf("up: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	before := e.stateResources()
	if r := e.run(append(up, "--plan", "plan.json", "--allow", "repository")...); r.code != 0 || !strings.Contains(r.stdout, "1 updated, 1 replaced") {
		t.Errorf("up --plan: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if cmp.Equal(before, e.stateResources()) {
		t.Error("up --plan has done nothing")
	}
	e.checkNowhere("hunter2-team")

	// The id of the network is not known, and nothing that is made of it.
	events = e.simulate(0, "preview", append(renamed, "--config", "greeting:range=10.1.0.0/16")...)
	if diff := cmp.Diff(map[string][]string{"greeting": nil, "hearing": {"greeting"}, "app": {"hearing"}}, unknownIn(events)); diff != "" {
		t.Errorf("another network:\n%s", diff)
	}
	for name, step := range finished(events) {
		if replaces := step.Changes.Replace > 0; replaces != (name == "greeting") || step.Changes.Outputs != 1 {
			t.Errorf("another network: %s has %s", name, step.Changes)
		}
	}
}

// TestPartialWithStockEngine: an installed Pulumi previews readers with the outputs in
// the states, and says so over any number of hops.
func TestPartialWithStockEngine(t *testing.T) {
	t.Parallel()
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
				e.t.Errorf("%s contains %q", path, text)
			}
			return err
		})
		if err != nil {
			e.t.Error(err)
		}
	}
}
