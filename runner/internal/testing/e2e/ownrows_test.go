package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOrphansAreResumed: a destroy of stacks that no project claims fails, and the command that it proposes completes it.
func TestOrphansAreResumed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	e.write("mara.yaml", "projects:\n  - path: a\n  - path: b\n  - path: c\n")
	for _, name := range []string{"a", "b", "c"} {
		e.write(name+"/Pulumi.yaml", oneNetwork(name, "10.0.0.0/16"))
	}
	e.simulate(0, "up")
	e.write("mara.yaml", "projects:\n  - path: a\n")
	r := e.run("destroy", "--orphans", "--simulate", "--yes", "--simulate-fail", "aws:ec2/vpc:Vpc=delete:no luck")
	proposed := regexp.MustCompile(`runner (destroy [^\n]*--orphans[^\n#]*)`).FindStringSubmatch(r.stdout + r.stderr)
	if r.code != 1 || proposed == nil {
		t.Fatalf("exit code %d, and no command with --orphans in\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.expect(0, "status --simulate", "no project claims")
	e.expect(0, strings.TrimSpace(proposed[1])+" --yes", "succeeded")
	if r := e.run("status", "--simulate"); r.code != 0 || strings.Contains(r.stdout+r.stderr, "no project claims") || !strings.Contains(r.stdout, "1 of 1 project") {
		t.Errorf("status: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.expect(0, "destroy --orphans --simulate --yes")
}

// TestNewEnvironments: a name that nothing knows is made with --new, or when a person says so, and in a root with a shared
// file, whose pipelines have always made environments, with a warning.
func TestNewEnvironments(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.useStatesAt(inDirectory(t))
	const nothing = "runtime: yaml\noutputs: {a: b}\n"
	e.write("net/Pulumi.yaml", "name: net\n"+nothing)
	e.write("net/Pulumi.dev.yaml", "config: {}\n")
	e.write("mara.yaml", "projects:\n  - {path: net, stackFile: own}\n")
	e.expect(3, "up -s devv --yes", `there is no environment "devv"`, "did you mean dev?", "--new")
	e.expect(0, "up -s devv --yes --new", "1 succeeded")
	e.expect(0, "up -s devv --yes") // the backend knows it
	person := e.sit("up", "-s", "devw", "--ui", "plain")
	person.answer(typed(`Nothing knows the environment "devw", and dev`, "y"), typed("Deploy this to the stack devw", "y"))
	if screen := person.end(0); !strings.Contains(screen, "1 succeeded") {
		t.Error(screen)
	}

	shared := newEnvironment(t, embedded)
	shared.useStatesAt(inDirectory(t))
	shared.write("net/Pulumi.yaml", "name: net\n"+nothing)
	shared.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	shared.write("mara.yaml", "projects:\n  - path: net\n")
	shared.expect(0, "up -s pr-17 --yes", `there is no environment "pr-17"; there are dev: up makes it`, "1 succeeded")
}

// TestVariablesOfProjects: each project runs with its own variables, by environment; a changed one is no reason to skip it,
// and none of them reaches the next project in the same worker.
func TestVariablesOfProjects(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, embedded)
	e.useStatesAt(inDirectory(t))
	e.useGo()
	program, err := filepath.Abs("testdata/variable")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		e.write(name+"/Pulumi.yaml", "name: "+name+"\nruntime: go\nmain: "+program+"\n")
	}
	for _, name := range []string{"dev", "prod"} {
		e.write("config/pulumi/Pulumi."+name+".yaml", "config: {}\n")
	}
	const mara = "projects:\n  - {path: a, env: {AWS_PROFILE: {dev: for-dev, prod: for-prod, default: other}}}\n" +
		"  - {path: b, env: {AWS_PROFILE: \"b-{stack}\"}}\n  - path: c\n"
	e.write("mara.yaml", mara)
	e.env = append(e.env, "AWS_PROFILE=shell")
	shows := func(stack string, want ...string) {
		t.Helper()
		for i, project := range []string{"a", "b", "c"} {
			e.expect(0, "outputs "+project+" -s "+stack, "profile: "+want[i])
		}
	}
	e.expect(0, "up -s dev --yes --parallel 1", "3 succeeded")
	shows("dev", "for-dev", "b-dev", "shell")
	e.expect(0, "up -s prod --yes", "3 succeeded")
	shows("prod", "for-prod", "b-prod", "shell")
	e.write("mara.yaml", strings.Replace(mara, "for-dev", "another", 1))
	e.expect(0, "up -s dev --yes --parallel 1", "1 output changed")
	shows("dev", "another", "b-dev", "shell")
}
