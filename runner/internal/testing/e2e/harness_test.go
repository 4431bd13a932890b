package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

// The two ways to run Pulumi: the engine inside, and the stock CLI.
const (
	embedded = "embedded"
	stock    = "stock"
)

// few is a part of every plan of kind: the cluster, its kubeconfig and certmgr. A
// test takes it where fourteen projects would show no more, above all with the
// stock CLI, which takes several times the processor time for each.
const few = "+certmgr"

// eachEngine runs a test with each of the engines.
func eachEngine(t *testing.T, engines []string, test func(t *testing.T, e *environment)) {
	t.Helper()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, newEnvironment(t, engine))
		})
	}
}

// environment is a directory with a configuration, and how to run the runner there.
type environment struct {
	t    *testing.T
	root string
	home string
	temp string
	env  []string // besides a bare minimum
	real bool     // the clouds are not simulated by the runner
}

// emptyEnvironment has an empty directory.
func emptyEnvironment(t *testing.T) *environment {
	t.Helper()
	return &environment{t: t, root: t.TempDir(), home: t.TempDir(), temp: t.TempDir()}
}

func newEnvironment(t *testing.T, engine string) *environment {
	t.Helper()
	e := emptyEnvironment(t)
	if engine == stock {
		e.env = append(e.env, "RUNNER_PULUMI="+program(t, "pulumi"))
	}
	e.write("config/pulumi/environment", "PULUMI_STACK=dev\n")
	return e
}

// stock says whether it runs with the stock CLI.
func (e *environment) stock() bool {
	return slices.ContainsFunc(e.env, func(v string) bool { return strings.HasPrefix(v, "RUNNER_PULUMI=") })
}

// program returns the path of a built program; make builds it.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("bin/%s is not built: run `make build tools` first (%v)", name, err)
	}
	return path
}

func (e *environment) write(name, content string) {
	e.t.Helper()
	path := filepath.Join(e.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

// command returns a call of the runner that has not started.
func (e *environment) command(args ...string) *exec.Cmd {
	e.t.Helper()
	cmd := exec.CommandContext(e.t.Context(), program(e.t, "runner"), args...)
	cmd.Dir = e.root
	cmd.Env = append([]string{"HOME=" + e.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + e.temp}, e.env...)
	return cmd
}

// result is how a call of the runner ended.
type result struct {
	code           int
	stdout, stderr string
}

func (e *environment) run(args ...string) result {
	e.t.Helper()
	cmd := e.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		e.t.Fatal(err)
	}
	return result{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// simulate runs an operation on quick simulated clouds and returns its events.
func (e *environment) simulate(want int, operation string, args ...string) []event.Event {
	e.t.Helper()
	all := append([]string{operation, "--simulate", "--simulate-speed", "100000", "--yes", "-o", "json"}, args...)
	r := e.run(all...)
	if r.code != want {
		e.t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(all, " "), r.code, want, lastLines(r.stdout), r.stderr)
	}
	return decode(e.t, r.stdout)
}

func lastLines(text string) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "")
}

func decode(t *testing.T, stream string) []event.Event {
	t.Helper()
	var events []event.Event
	for line := range strings.Lines(stream) {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("stdout has a line that is no event: %q", line)
		}
		events = append(events, e)
	}
	return events
}

// finished returns the step.finished events by project.
func finished(events []event.Event) map[string]event.Event {
	steps := map[string]event.Event{}
	for _, e := range events {
		if e.Type == event.StepFinished {
			steps[e.Project] = e
		}
	}
	return steps
}

// results counts how the steps ended.
func results(events []event.Event) event.Results {
	var r event.Results
	for _, step := range finished(events) {
		if step.Unchanged != "" {
			step.Result = event.Succeeded // in the run since which nothing has changed
		}
		r = r.Count(step.Result)
	}
	return r
}

// changed lists the projects in which something changed.
func changed(events []event.Event) []string {
	var names []string
	for name, step := range finished(events) {
		if step.Changes != nil && step.Changes.Any() {
			names = append(names, name)
		}
	}
	return names
}
