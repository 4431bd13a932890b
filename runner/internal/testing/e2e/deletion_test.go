package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// newProtected creates an environment of two projects, of which the second reads the first.
// Each has a repository that Pulumi refuses to delete, and a network.
func newProtected(t *testing.T) *environment {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: data\n  - {path: app, reads: data}\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	for _, name := range []string{"data", "app"} {
		e.write(name+"/Pulumi.yaml", "name: "+name+`
runtime: yaml
resources:
  net: {type: "aws:ec2:Vpc", properties: {cidrBlock: 10.0.0.0/16}}
  kept: {type: "aws:ecr:Repository", properties: {}, options: {protect: true}}
outputs: {id: "${net.id}"}
`)
	}
	e.simulate(0, "up")
	return e
}

// protectedStates returns the states of both projects.
func (e *environment) protectedStates() string {
	return e.read(".runner/simulated/state/.pulumi/stacks/data/dev.json") + e.read(".runner/simulated/state/.pulumi/stacks/app/dev.json")
}

// TestDeletionLooksFirst: nothing is deleted where Pulumi refuses a deletion in the middle.
func TestDeletionLooksFirst(t *testing.T) {
	t.Parallel()
	e := newProtected(t)
	before := e.protectedStates()
	simulated := []string{"--simulate", "--simulate-speed", "100000", "--yes"}
	r := e.run(append([]string{"destroy"}, simulated...)...)
	for _, want := range []string{
		"2 protected resources in the way of the destroy; nothing was deleted", "data: aws:ecr/repository:Repository kept", "app: aws:ecr/repository:Repository kept", "state unprotect URN", "--skip",
	} {
		if r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("exit code %d, and it does not say %q:\n%s%s", r.code, want, lastLines(r.stdout), r.stderr)
		}
	}
	if e.protectedStates() != before {
		t.Error("the destroy has changed a state")
	}

	// The program drops what is protected, and its network.
	e.write("app/Pulumi.yaml", "name: app\nruntime: yaml\nresources:\n  other: {type: \"aws:ec2:InternetGateway\", properties: {}}\n")
	if r = e.run(append([]string{"up"}, simulated...)...); r.code == 0 || !strings.Contains(r.stdout+r.stderr, "kept") {
		t.Errorf("up: exit code %d:\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if e.protectedStates() != before {
		t.Error("the up has changed a state")
	}

	// Once the protection is gone, everything goes, and the question names what holds data.
	for _, name := range []string{"data", "app"} {
		e.write(name+"/Pulumi.yaml", "name: "+name+`
runtime: yaml
resources:
  net: {type: "aws:ec2:Vpc", properties: {cidrBlock: 10.0.0.0/16}}
  kept: {type: "aws:ecr:Repository", properties: {}}
  left: {type: "aws:ecr:Repository", properties: {}, options: {retainOnDelete: true}}
outputs: {id: "${net.id}"}
`)
	}
	e.simulate(0, "up")
	person := e.sit("destroy", "--simulate", "--simulate-speed", "100000", "--ui", "plain")
	person.Expect("kept  holds data")
	person.Expect("left  stays: its program says retainOnDelete")
	person.Expect("  data, 2 resources: Repository kept (holds data), Vpc net")
	person.answer(typed("Type the stack's name to continue", "dev"))
	person.end(0)
}

// TestFleetDestroyLooksFirst: nothing is deleted in any environment where one of them has a protected resource, is
// protected itself, or cannot be read. The last environment was gone before the first refused.
func TestFleetDestroyLooksFirst(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: data\n")
	program := "name: data\nruntime: yaml\nresources:\n  kept: {type: \"aws:ecr:Repository\", properties: {}, options: {protect: %t}}\n"
	for _, name := range []string{"first", "last"} {
		e.write("config/environments/"+name+".yaml", "values: {runner: {labels: {wave: "+name+"}}}\n")
	}
	e.write("config/rollout.yaml", "waves:\n  - {name: first, match: {wave: first}}\n  - {name: last, match: {wave: last}}\n")
	e.write("data/Pulumi.yaml", fmt.Sprintf(program, true))
	e.fleet(0, "up", "first")
	e.write("data/Pulumi.yaml", fmt.Sprintf(program, false))
	e.fleet(0, "up", "last", "--out-of-order")
	states := func() string {
		return e.read(".runner/simulated/state/.pulumi/stacks/data/first.json") + e.read(".runner/simulated/state/.pulumi/stacks/data/last.json")
	}
	before := states()
	refused := func(want string, args ...string) {
		t.Helper()
		r := e.run(append([]string{"fleet", "destroy", "--all", "--simulate", "--simulate-speed", "100000", "--yes"}, args...)...)
		if r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("exit code %d, want %q:\n%s%s", r.code, want, lastLines(r.stdout), r.stderr)
		}
		if states() != before {
			t.Error("the destroy has changed a state")
		}
	}
	refused("1 protected resource in the way of the destroy; nothing was deleted:\n  first: data: aws:ecr/repository:Repository kept (urn:")

	e.fleet(0, "up", "first")
	before = states()
	e.write("config/environments/first.yaml", "values: {runner: {labels: {wave: first}}, pulumiConfig: {\"runner:protect\": true}}\n")
	refused("protects this environment from being destroyed")

	e.write(".runner/simulated/state/.pulumi/stacks/data/first.json", "{")
	before = states()
	refused("data/first.json", "--allow", "first")

	e.fleet(0, "destroy", "last")
}

// TestProtectedEnvironmentAsks: a protected environment loses nothing without being
// asked, whatever its type, but for what is harmless.
func TestProtectedEnvironmentAsks(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects: [{path: app}]\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  runner:protect: true\n")
	program := func(resources string) {
		e.write("app/Pulumi.yaml", "name: app\nruntime: yaml\nresources:\n  net: {type: \"aws:ec2:Vpc\", properties: {cidrBlock: 10.0.0.0/16}}\n"+resources)
	}
	const gateway = "  gateway: {type: \"aws:ec2:InternetGateway\", properties: {}}\n"
	program(gateway)
	e.simulate(0, "up")
	program("")
	up := []string{"up", "--simulate", "--simulate-speed", "100000", "--yes"}
	if r := e.run(up...); r.code == 0 || !strings.Contains(r.stderr, "aws:ec2/internetGateway:InternetGateway gateway would be replaced or deleted") {
		t.Errorf("exit code %d: %s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if !strings.Contains(e.read(".runner/simulated/state/.pulumi/stacks/app/dev.json"), "aws:ec2/internetGateway:InternetGateway") {
		t.Error("the gateway was deleted")
	}
	e.write("mara.yaml", "projects: [{path: app}]\nharmless: [\"aws:ec2/internetGateway:InternetGateway\"]\n")
	e.simulate(0, "up")
	if strings.Contains(e.read(".runner/simulated/state/.pulumi/stacks/app/dev.json"), "aws:ec2/internetGateway:InternetGateway") {
		t.Error("the gateway is still there, and gateways are harmless here")
	}
}
