package e2e

import (
	"strings"
	"testing"
)

// TestGateHolds: a gate that has failed, or was never asked, holds the next wave in every way to run it, until it passes
// for what runs in its own wave.
func TestGateHolds(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: app\n")
	e.write("app/Pulumi.yaml", "name: app\nruntime: yaml\nconfig: {size: {type: string, default: small}}\n"+
		"resources:\n  kept: {type: \"pulumi:index:Stash\", properties: {input: \"${size}\"}}\n")
	for _, name := range []string{"test", "prod"} {
		e.write("config/environments/"+name+"-1.yaml", "values: {runner: {labels: {stage: "+name+"}}}\n")
	}
	e.write("config/rollout.yaml", "waves:\n  - {name: test, match: {stage: test}, gates: [{run: sh gate.sh, simulate: true}]}\n"+
		"  - {name: prod, match: {stage: prod}}\n")
	gate := func(code string) { e.write("gate.sh", "#!/bin/sh\nexit "+code+"\n") }
	const up, held = " --simulate --simulate-speed 100000 --yes", "test-1 has not passed the gates of its wave with what runs there now: sh gate.sh"

	gate("1")
	e.expect(1, "fleet up --all"+up, "wave:test")
	e.expect(3, "fleet up prod-1"+up, held, "`runner fleet up test-1 prod-1 --simulate` skips what is unchanged")
	e.expect(1, "fleet up test-1 prod-1"+up, "wave:test")
	e.expect(0, "fleet up prod-1 --skip-gate run"+up, "prod-1")
	gate("0")
	e.expect(3, "fleet up prod-1"+up, held)
	e.expect(0, "fleet up test-1 prod-1"+up, "prod-1")
	e.expect(0, "fleet up prod-1"+up, "prod-1")

	e.write("config/environments/test-1.yaml", "values: {runner: {labels: {stage: test}}, pulumiConfig: {'app:size': large}}\n")
	e.expect(0, "up -s test-1"+up, "app")
	e.expect(3, "fleet up prod-1"+up, held)
	e.expect(0, "fleet up prod-1 --out-of-order"+up, "prod-1")
	e.expect(0, "fleet up --all"+up, "prod-1")
	e.expect(0, "up -s test-1"+up, "app") // changes nothing
	e.expect(0, "fleet up prod-1"+up, "prod-1")
}

// TestFleetPreviewAtTheQuestion: whoever is asked about a rollout can see first what would change, the same once.
func TestFleetPreviewAtTheQuestion(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: app\n")
	for _, name := range []string{"eu-1", "eu-2"} {
		e.write("config/environments/"+name+".yaml", "values: {}\n")
	}
	e.write("app/Pulumi.yaml", appFor("one"))
	e.expect(0, "fleet up --yes --all --simulate --simulate-speed 100000")
	e.write("app/Pulumi.yaml", appFor("two"))
	const question = "up all of them? (y/N, p preview them first)"
	person := e.sit("fleet", "up", "--all", "--simulate", "--simulate-speed", "100000", "--ui", "plain")
	person.answer(typed(question, "p"), typed("The same in 2 environments: eu-1, eu-2", "n"))
	if screen := person.end(1); !strings.Contains(screen, `tags.team: "one" => "two"`) || strings.Count(screen, question) < 2 {
		t.Errorf("the screen does not show what would change, or does not ask again:\n%s", screen)
	}
	if state := e.read(".runner/simulated/state/.pulumi/stacks/app/eu-1.json"); strings.Contains(state, `"two"`) {
		t.Error("it was deployed")
	}
}

// TestFleetDifferences: a preview of a fleet says what changes, once for all environments in which it is the same.
func TestFleetDifferences(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: app\n")
	program := func(size string) {
		e.write("app/Pulumi.yaml", "name: app\nruntime: yaml\nresources:\n  net: {type: \"aws:ec2:Vpc\", properties: "+
			"{cidrBlock: 10.0.0.0/16, tags: {size: "+size+", env: \"${pulumi.stack}\"}}}\n")
	}
	program("small")
	for _, name := range []string{"eu-1", "eu-2"} {
		e.write("config/environments/"+name+".yaml", "values: {runner: {labels: {stage: prod}}}\n")
	}
	const simulated = " --all --simulate --simulate-speed 100000"
	e.expect(0, "fleet up --yes"+simulated)
	program("large")
	e.expect(0, "fleet preview"+simulated, "The same in 2 environments: eu-1, eu-2\n  Would change: 1 resource in 1 project\n",
		"tags.size: \"small\" => \"large\"")
}
