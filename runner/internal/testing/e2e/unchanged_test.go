package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

// really lists the projects that an up has run, in plan order.
func really(events []event.Event) []string {
	steps := finished(events)
	var names []string
	for _, p := range events[0].Projects {
		if steps[p.Name].Unchanged == "" {
			names = append(names, p.Name)
		}
	}
	return names
}

// expectRun fails unless an up has run these projects and no others.
func expectRun(t *testing.T, what string, events []event.Event, want ...string) {
	t.Helper()
	if got := really(events); !slices.Equal(got, want) {
		t.Errorf("%s: ran %v, want %v", what, got, want)
	}
}

// TestUnchanged: an up skips the projects for which nothing has changed, and
// no others.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	const stackFile = "config/pulumi/Pulumi.dev.yaml"
	configure := func(lines ...string) {
		e.write(stackFile, "config:\n  kubernetes:infra_type: kind\n"+strings.Join(lines, ""))
	}
	configure()
	up := func(args ...string) []event.Event {
		return e.simulate(0, "up", append([]string{"--only", "+certmgr,+logstore"}, args...)...)
	}
	all := []string{"kind-cluster", "kubeconfig", "logstore", "certmgr"}
	first := up()
	expectRun(t, "the first", first, all...)

	again := up()
	expectRun(t, "the second", again)
	step := finished(again)["certmgr"]
	if step.Result != event.Skipped || step.Unchanged != first[0].Run || step.Reason != "unchanged since "+first[0].Run {
		t.Errorf("reported %+v", step)
	}
	if last := again[len(again)-1]; last.Results == nil || last.Results.Unchanged != 4 || last.Result != event.Succeeded {
		t.Errorf("the end is %+v", last)
	}
	if r := e.run("outputs", "kubeconfig", "--simulate"); r.code != 0 || !strings.Contains(r.stdout, "kubeconfig") {
		t.Errorf("outputs of a skipped project: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("show", "--simulate"); r.code != 0 || !strings.Contains(r.stdout, "4 unchanged") {
		t.Errorf("show: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	expectRun(t, "--force", up("--force"), all...)
	expectRun(t, "with a fault that hits nothing", up("--simulate-fail", "aws:ec2/vpc:Vpc=no"), all...)
	expectRun(t, "after both", up())

	configure("  certmgr:keep_crds: true\n")
	expectRun(t, "a key of one project", up(), "certmgr")
	expectRun(t, "the same key again", up())
	expectRun(t, "a key for one run", up("--config", "logstore:helm_timeout=777"), "logstore")
	expectRun(t, "without the key", up(), "logstore")

	e.write("config/pulumi/values/logstore.yaml", "{}\n")
	configure("  certmgr:keep_crds: true\n", "  logstore:values_file: values/logstore.yaml\n")
	expectRun(t, "a file is named", up(), "logstore")
	e.write("config/pulumi/values/logstore.yaml", "podAnnotations: {a: b}\n")
	expectRun(t, "what is in the file", up(), "logstore")

	e.simulate(0, "refresh", "--only", "logstore")
	expectRun(t, "another program has written a state", up(), "logstore")
	state := filepath.Join(e.root, ".runner/simulated/state/.pulumi/stacks/certmgr/dev.json")
	content, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, append(content, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "only the end of a file differs", up())
	if err := os.Remove(filepath.Join(e.root, ".runner/simulated/kubeconfig")); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "the kubeconfig is gone", up(), "kind-cluster")
	if _, err := os.Stat(filepath.Join(e.root, ".runner/simulated/kubeconfig")); err != nil {
		t.Error(err)
	}

	configure("  certmgr:keep_crds: false\n", "  logstore:values_file: values/logstore.yaml\n")
	e.simulate(1, "up", "--only", "+certmgr,+logstore", "--simulate-fail", "kubernetes:*=no way")
	configure("  certmgr:keep_crds: true\n", "  logstore:values_file: values/logstore.yaml\n")
	if names := really(up()); !slices.Contains(names, "certmgr") {
		t.Errorf("after a failure ran %v: its last success is not its last run", names)
	}
	e.simulate(0, "destroy", "--only", "certmgr")
	expectRun(t, "after a destroy", up(), "certmgr")
}

// TestUnchangedButAsks: a program that asks its cloud is run every time, and so is
// everything with an engine that does not tell what programs ask.
func TestUnchangedButAsks(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, embedded)
	up := func(e *environment, args ...string) []event.Event {
		return e.simulate(0, "up", append([]string{"-p", "aws", "--only", "aws-vpc,aws-eks"}, args...)...)
	}
	up(e)
	expectRun(t, "zones are asked for", up(e), "aws-vpc")
	zones := []string{"--config", `vpc:azs=["us-east-1a","us-east-1b","us-east-1c"]`}
	up(e, zones...)
	expectRun(t, "zones are written down", up(e, zones...))

	other := newEnvironment(t, stock)
	up(other, zones...)
	expectRun(t, "the stock CLI", up(other, zones...), "aws-vpc", "aws-eks")
}

// TestUnchangedOwn does the same with projects of the user's own.
func TestUnchangedOwn(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	const reference = "resources:\n  a:\n    type: pulumi:pulumi:StackReference\n    properties:\n      name: ${pulumi.organization}/a/${pulumi.stack}\n"
	program := func(name, rest string) { e.write(name+"/Pulumi.yaml", "name: "+name+"\nruntime: yaml\n"+rest) }
	program("a", "config:\n  size: {type: string, default: s, description: warns of nothing}\nvariables:\n  text:\n    fn::readFile: ../shared.txt\noutputs:\n  text: ${text}\n")
	program("b", reference+"    options: {Protect: false}\noutputs:\n  text: b ${a.outputs[\"text\"]}\n")
	program("c", reference+"outputs:\n  text: c ${a.outputs[\"text\"]}\n")
	e.write("shared.txt", "one")
	mara := "projects:\n- {path: a}\n- {path: b, reads: a}\n- {path: c, after: a}\n"
	e.write("mara.yaml", mara)
	up := func() []event.Event {
		t.Helper()
		r := e.run("up", "--yes", "-o", "json")
		if r.code != 0 {
			t.Fatalf("exit code %d: %s%s", r.code, lastLines(r.stdout), r.stderr)
		}
		return decode(t, r.stdout)
	}
	first := up()
	expectRun(t, "the first", first, "a", "b", "c")
	if !slices.ContainsFunc(first, func(e event.Event) bool {
		return e.Type == event.StepLog && e.Project == "b" && e.Severity == event.Warning
	}) {
		t.Error("the program of b does not warn")
	}
	expectRun(t, "one that warns", up(), "c")
	e.write("mara.yaml", strings.Replace(mara, "after: a", "reads: a", 1))
	expectRun(t, "it says what it reads", up(), "c")
	expectRun(t, "nothing", up())
	e.write("shared.txt", "two")
	expectRun(t, "a file that the program names", up(), "a", "b", "c")
	program("a", "variables:\n  text:\n    fn::readFile: ../shared.txt\noutputs:\n  text: ${text}\n# changed\n")
	expectRun(t, "a program with the same outputs", up(), "a")
	e.env = append(e.env, "SOME_VARIABLE=1")
	changed := up()
	expectRun(t, "a variable of the environment", changed, "a", "b", "c")
	named := slices.DeleteFunc(changed, func(e event.Event) bool {
		return e.Severity != event.Info || !strings.Contains(e.Message, "the environment variable SOME_VARIABLE;")
	})
	if len(named) != 1 {
		t.Errorf("the variable that has changed is named %d times, want once", len(named))
	}
	e.env = append(e.env, "GITHUB_RUN_ID=2", "TERM_PROGRAM=vscode")
	expectRun(t, "another job, another terminal", up())
	e.write("mara.yaml", strings.Replace(mara, "{path: c, after: a}", "{path: c, reads: a, hooks: [{name: tell, run: 'true'}]}", 1))
	expectRun(t, "a hook", up(), "c")
	expectRun(t, "the hook again", up(), "c")
	e.write("mara.yaml", strings.Replace(mara, "after: a", "reads: a", 1))
	up()
	e.env = append(e.env, "API_TOKEN=1")
	expectRun(t, "a secret variable", up(), "a", "b", "c")
	e.env[len(e.env)-1] = "API_TOKEN=2"
	expectRun(t, "another secret", up(), "a", "b", "c")
	records, err := filepath.Glob(filepath.Join(e.root, ".runner/fingerprints/*/*.json"))
	if err != nil || len(records) != 3 {
		t.Fatalf("records %v, %v", records, err)
	}
	for _, file := range records {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
}
