package e2e

import (
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
)

// previewedAgain returns the projects that an up has previewed a second time.
func previewedAgain(events []event.Event) []string {
	var names []string
	for _, e := range events {
		if e.Type == event.StepLog && strings.Contains(e.Message, "previewed again") {
			names = append(names, e.Project)
		}
	}
	slices.Sort(names)
	return names
}

// TestSecondLookStopsALoss: an installed Pulumi previews the readers of a new name on
// the old one. The protection stops the replacement that only the new name shows, also
// when the run is resumed.
func TestSecondLookStopsALoss(t *testing.T) {
	t.Parallel()
	long(t)
	e := newReaders(t, stock)
	e.simulate(0, "up")
	before := e.read(".runner/simulated/state/.pulumi/stacks/app/dev.json")
	renamed := []string{"--config", "greeting:name=team-b"}
	events := e.simulate(1, "up", renamed...)
	app := finished(events)["app"]
	if app.Result != event.Failed || !strings.Contains(app.Error, "forbidden by the protection of the environment") ||
		!strings.Contains(app.Error, "repository would be replaced or deleted") || !strings.Contains(app.Hint, "--config greeting:name=team-b --resume") {
		t.Errorf("app: %s: %s (%s)", app.Result, app.Error, app.Hint)
	}
	if got := finished(events)["greeting"].Result; got != event.Succeeded {
		t.Errorf("greeting: %s", got)
	}
	if got := strings.Join(previewedAgain(events), " "); got != "app hearing" {
		t.Errorf("previewed again: %q", got)
	}
	if f := findingOf(events, string(refusal.Protection)); f == nil || f.Project != "app" {
		t.Errorf("the finding is %+v", f)
	}
	resumed := e.run(append([]string{"up", "--resume", "--simulate", "--simulate-speed", "100000", "--yes"}, renamed...)...)
	if resumed.code != 1 || !strings.Contains(resumed.stderr, "forbidden by the protection of the environment") {
		t.Errorf("resumed: exit code %d\n%s%s", resumed.code, lastLines(resumed.stdout), resumed.stderr)
	}
	if e.read(".runner/simulated/state/.pulumi/stacks/app/dev.json") != before {
		t.Error("app was changed")
	}
	e.simulate(0, "up", append(renamed, "--resume", "--allow", "repository")...)
	if state := e.read(".runner/simulated/state/.pulumi/stacks/app/dev.json"); !strings.Contains(state, `"name": "team-b"`) && !strings.Contains(state, `"name":"team-b"`) {
		t.Error("the repository has the old name")
	}
}

// TestSecondLookStopsADeletion: a program no longer declares a resource when the outputs of another project are the new
// ones. Only the second preview shows that, and the protection stops it.
func TestSecondLookStopsADeletion(t *testing.T) {
	t.Parallel()
	long(t)
	e := newReaders(t, stock)
	e.write("hearing/Pulumi.yaml", e.read("hearing/Pulumi.yaml")+"config:\n  keepAt: {type: string, default: team-a}\n")
	e.simulate(0, "up")
	const state = ".runner/simulated/state/.pulumi/stacks/hearing/dev.json"
	before := e.read(state)
	renamed := []string{"--config", "greeting:name=team-b"}
	if got := finished(e.simulate(0, "preview", renamed...))["hearing"].Changes.Delete; got != 0 {
		t.Fatalf("the first preview shows %d deletions already", got)
	}
	hearing := finished(e.simulate(1, "up", renamed...))["hearing"]
	if hearing.Result != event.Failed || !strings.Contains(hearing.Error, "forbidden by the protection of the environment") ||
		!strings.Contains(hearing.Error, "kept would be replaced or deleted") {
		t.Errorf("hearing: %s: %s", hearing.Result, hearing.Error)
	}
	if e.read(state) != before || !strings.Contains(before, "::kept") {
		t.Error("hearing was changed, or never had the resource")
	}
	allowed := finished(e.simulate(0, "up", append(renamed, "--resume", "--allow", "kept", "--allow", "repository")...))["hearing"]
	if allowed.Changes.Delete != 1 || strings.Contains(e.read(state), "::kept") {
		t.Errorf("allowed: %s", allowed.Changes)
	}
}

// TestSecondLookSparesTheProtected: Pulumi refuses to replace a protected resource. If only the new outputs of another
// project show the replacement, the project is previewed again, and nothing of it is changed.
func TestSecondLookSparesTheProtected(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, stock)
	e.write("mara.yaml", "projects:\n  - path: greeting\n  - {path: app, reads: greeting}\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	e.write("greeting/Pulumi.yaml", `name: greeting
runtime: yaml
config:
  name: {type: string, default: team-a}
resources:
  vpc: {type: "aws:ec2:Vpc", properties: {cidrBlock: 10.0.0.0/16, tags: {name: "${name}"}}}
outputs:
  name: ${name}
`)
	e.write("app/Pulumi.yaml", `name: app
runtime: yaml
resources:
  gateway: {type: "aws:ec2:InternetGateway", properties: {tags: {name: "${name}"}}}
  repository: {type: "aws:ecr:Repository", properties: {name: "${name}"}, options: {protect: true, dependsOn: ["${gateway}"]}}
variables:
  name: {fn::stackReference: [organization/greeting/dev, name]}
`)
	e.simulate(0, "up")
	before := e.read(".runner/simulated/state/.pulumi/stacks/app/dev.json")
	app := finished(e.simulate(1, "up", "--config", "greeting:name=team-b"))["app"]
	if app.Result != event.Failed || !strings.Contains(app.Error, "previewing it with the current outputs of what it reads") {
		t.Errorf("app: %s: %s", app.Result, app.Error)
	}
	if e.read(".runner/simulated/state/.pulumi/stacks/app/dev.json") != before {
		t.Error("app was changed")
	}
}

// TestSecondLookStopsADenial: a rule judges a value that is known only after an up,
// before the value is used. Projects whose preview was complete are previewed once.
func TestSecondLookStopsADenial(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: net\n  - {path: app, reads: net}\n")
	e.write("net/Pulumi.yaml", `name: net
runtime: yaml
resources:
  vpc: {type: "aws:ec2:Vpc", properties: {cidrBlock: 10.0.0.0/16}}
outputs: {id: "${vpc.id}"}
`)
	e.write("app/Pulumi.yaml", `name: app
runtime: yaml
variables:
  network: {fn::stackReference: [organization/net/dev, id]}
resources:
  repository: {type: "aws:ecr:Repository", properties: {name: "team-${network}"}}
`)
	e.write("policies/names.jq", `# No repository of a network.
def deny: resources("aws:ecr/repository:Repository") | select((.inputs.name // "") | test("^team-vpc")) | finding("has the name of a network");
`)
	for _, args := range [][]string{nil, {"--resume"}} {
		events := e.simulate(1, "up", args...)
		app := finished(events)["app"]
		if len(args) == 0 && (app.Result != event.Failed || !strings.Contains(app.Error, "forbidden by policy: names (app)")) {
			t.Errorf("up %v: app: %s: %s", args, app.Result, app.Error)
		}
		if f := findingOf(events, "names"); f == nil || !f.Denies() || f.Resource.Name != "repository" {
			t.Errorf("up %v: the finding is %+v", args, f)
		}
	}
	if r := e.run("query", "--simulate", "types"); strings.Contains(r.stdout, "Repository") {
		t.Errorf("the repository is there: %s", r.stdout)
	}
	e.simulate(0, "destroy")
	e.write("config/environments/dev.yaml", "values: {runner: {labels: {stage: test}}}\n")
	e.write("config/rollout.yaml", "waves: [{name: test, match: {stage: test}}]\n")
	rollout := finished(e.fleet(1, "up", "--all"))
	if dev := rollout["dev"]; dev.Result != event.Failed || !strings.Contains(dev.Error, "app: forbidden by policy: names (app); only the outputs") {
		t.Errorf("the rollout: %s: %s", dev.Result, dev.Error)
	}
	if r := e.run("query", "--simulate", "types"); strings.Contains(r.stdout, "Repository") {
		t.Errorf("the repository is there: %s", r.stdout)
	}
	e.write("policies/names.jq", "# Nothing.\ndef deny: resources(\"none\") | finding(\"no\");\n")
	e.simulate(0, "destroy")
	e.write("prices.yaml", `types:
  aws:ecr/repository:Repository: {size: '.name | if startswith("team-vpc") then "large" else "[unknown]" end', per: month, prices: {large: 100}, day: 2026-11-01, source: us}
`)
	limited := finished(e.simulate(1, "up", "--max-monthly", "50", "--unknown-costs", "allow"))
	if app := limited["app"]; limited["net"].Result != event.Succeeded || !strings.Contains(app.Error, "forbidden by --max-monthly 50: it costs at least 100 USD a month") {
		t.Errorf("the limit: %s: %s", app.Result, app.Error)
	}
	if again := previewedAgain(e.simulate(0, "up", "--force")); len(again) > 0 {
		t.Errorf("all was known, and %v were previewed again", again)
	}
}

// TestSecondLookAsks: a person has approved a table without the replacement that only
// the new name shows. They are asked again, about the replacement: without an answer it
// is not made, and the resumed run shows it in its table.
func TestSecondLookAsks(t *testing.T) {
	t.Parallel()
	long(t)
	for _, mode := range []string{"plain", "live"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			e := newReaders(t, stock)
			e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
			e.simulate(0, "up")
			args := []string{"up", "--simulate", "--simulate-speed", "100000", "--ui", mode}
			up := func(name string) []string { return append(args, "--config", "greeting:name="+name) }
			const question = "With its new inputs app needs more than was shown: replace of aws:ecr/repository:Repository repository"

			person := e.sit(up("team-b")...)
			person.answer(typed("Deploy this to the stack dev", "y"), typed(question, "n"))
			screen := strings.Join(strings.Fields(person.end(1)), " ")
			for _, want := range []string{"forbidden by the approval, which did not cover it: replace of aws:ecr/repository:Repository repository", "--resume"} {
				if !strings.Contains(screen, want) {
					t.Errorf("the screen does not say %q:\n%s", want, screen)
				}
			}
			person = e.sit(append(up("team-b"), "--resume")...)
			person.answer(typed("Deploy this to the stack dev (1 to update, 1 to replace", "y"))
			person.end(0)
			person = e.sit(up("team-c")...)
			person.answer(typed("Deploy this to the stack dev", "y"), typed(question, "y"))
			person.end(0)
		})
	}
}
