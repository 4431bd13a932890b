package e2e

import (
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
)

// newShelves describes a project with three resources, of which one depends on another, and one that reads it.
func newShelves(t *testing.T) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: store\n  - {path: shop, reads: store}\n")
	e.write("store/Pulumi.yaml", `name: store
runtime: yaml
config:
  edition: {type: string, default: one}
resources:
  first: {type: "aws:ecr:Repository", properties: {name: first, tags: {edition: "${edition}"}}}
  second: {type: "aws:ecr:Repository", properties: {name: second, tags: {edition: "${edition}", of: "${first.arn}"}}}
  third: {type: "aws:ecr:Repository", properties: {name: third, tags: {edition: "${edition}"}}}
outputs: {name: "${first.name}"}
`)
	e.write("shop/Pulumi.yaml", `name: shop
runtime: yaml
variables: {name: {fn::stackReference: [organization/store/dev, name]}}
resources:
  first: {type: "aws:ecr:Repository", properties: {name: "of-${name}"}}
`)
	return e
}

// TestTargets limits operations to some resources, as Pulumi does. What was left out runs the next time, and the
// guards hold.
func TestTargets(t *testing.T) {
	t.Parallel()
	e := newShelves(t)
	e.simulate(0, "up")
	changed := func(want event.Changes, operation string, args ...string) {
		t.Helper()
		events := e.simulate(0, operation, args...)
		if _, ran := finished(events)["shop"]; ran {
			t.Errorf("%s %s: the project of no target ran", operation, args)
		}
		got := *finished(events)["store"].Changes
		if got.Same = want.Same; got != want {
			t.Errorf("%s %s: %s, want %s", operation, args, got, want)
		}
	}
	two := []string{"--config", "store:edition=two"}
	const urn = "urn:pulumi:dev::store::aws:ecr/repository:Repository::first"
	changed(event.Changes{Update: 1}, "preview", append(two, "--target", urn)...)
	changed(event.Changes{Update: 2}, "preview", append(two, "-t", urn, "--target-dependents")...)
	changed(event.Changes{Update: 1}, "up", append(two, "--target", "third")...)
	changed(event.Changes{Update: 2}, "up", append(two, "--only", "store")...) // neither skipped, nor recorded as done

	text := "config:\n  runner:protect: true\n"
	e.write("config/pulumi/Pulumi.dev.yaml", text)
	refused := e.simulate(1, "up", append(two, "--replace", "third")...)
	if f := findingOf(refused, string(refusal.Protection)); f == nil || !strings.HasSuffix(f.URN, "::third") {
		t.Errorf("the finding is %+v", f)
	}
	changed(event.Changes{Replace: 1}, "up", append(two, "--replace", "third", "--allow", "third")...)

	e.simulate(0, "up", append(two, "--refresh")...)
	e.lose("ecr.repository.Repository/second.json")
	changed(event.Changes{Create: 1}, "up", append(two, "--refresh", "--only", "store")...)

	for _, test := range []struct{ says, args string }{
		{"2 resources have the name \"first\"", "preview --target first"},
		{"no resource of dev has the name \"thirdd\"; did you mean \"third\"?", "preview --replace thirdd"},
		{"is of the stack \"prod\"", "preview --target " + strings.Replace(urn, ":dev:", ":prod:", 1)},
		{"is of the project \"stor\", which is not in the plan; did you mean \"store\"?", "up --yes --target " + strings.Replace(urn, ":store:", ":stor:", 1)},
		{"work on one project at a time", "preview --target third --replace " + strings.Replace(urn, ":store:", ":shop:", 1)},
	} {
		r := e.run(append(strings.Fields(test.args), "-s", "dev", "--simulate")...)
		if r.code != 2 || !strings.Contains(r.stderr, test.says) {
			t.Errorf("%s: exit code %d, %s", test.args, r.code, r.stderr)
		}
	}
	e.simulate(0, "up", "--target", urn)
	if r := e.run("up", "-s", "dev", "--simulate", "--resume", "--yes"); r.code != 3 || !strings.Contains(r.stderr, "was limited to some resources") {
		t.Errorf("resumed: exit code %d, %s", r.code, r.stderr)
	}
}
