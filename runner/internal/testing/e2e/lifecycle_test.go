package e2e

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/providers"
	"mara/runner/internal/core/event"
)

// plans are the providers and the sizes of their plans.
var plans = planSizes()

func planSizes() map[string]int {
	sizes := map[string]int{}
	for _, p := range providers.All() {
		sizes[p.Name] = len(p.Steps)
	}
	return sizes
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	for provider, size := range plans {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			if provider != "kind" && provider != "linode" {
				long(t)
			}
			e := newEnvironment(t, embedded)
			if provider == "cluster" { // without a registry there are no projects for images
				e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: cluster\n  cluster:registry: registry.example.com/team\n")
			}
			lifecycle(t, e, provider, size)
		})
	}
}

// TestLifecycleWithTheStockCLI runs a shorter life cycle, for the reason in few, which begins
// with a fault.
func TestLifecycleWithTheStockCLI(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, stock)
	part := []string{"-p", "kind", "--only", few}
	fault := "kubernetes:helm.sh/v3:Release"
	events := e.simulate(1, "up", append(part, "--simulate-fail", fault)...)
	checkFailure(t, events, []string{"certmgr"}, "simulated failure of "+fault)
	if names := changed(e.simulate(0, "up", part...)); !slices.Equal(names, []string{"certmgr"}) {
		t.Errorf("resuming changed %v, want what failed", names)
	}
	for _, operation := range []string{"preview", "refresh", "up"} {
		events := e.simulate(0, operation, part...)
		if names := changed(events); len(names) > 0 {
			t.Errorf("%s after up changed %v", operation, names)
		}
		if got := results(events); got != (event.Results{Succeeded: 3}) {
			t.Errorf("%s after up: %+v", operation, got)
		}
	}
	e.simulate(0, "destroy")
	checkNothingLeft(t, e)
}

func lifecycle(t *testing.T, e *environment, provider string, size int) {
	all := event.Results{Succeeded: size}

	if got := results(e.simulate(0, "refresh", "-p", provider)); got != (event.Results{Skipped: size}) {
		t.Errorf("refresh of what was never deployed: %+v, want %d skipped", got, size)
	}
	if got := results(e.simulate(0, "preview", "-p", provider)); got != all {
		t.Errorf("preview: %+v, want %+v", got, all)
	}
	first := e.simulate(0, "up", "-p", provider)
	if got := results(first); got != all {
		t.Fatalf("first up: %+v, want %+v", got, all)
	}
	if n := len(changed(first)); n != size {
		t.Errorf("the first up changed %d projects, want all %d", n, size)
	}
	for _, operation := range []string{"up", "preview", "refresh", "up"} {
		events := e.simulate(0, operation)
		if names := changed(events); len(names) > 0 {
			t.Errorf("%s after up changed %v", operation, names)
		}
		if got := results(events); got != all {
			t.Errorf("%s after up: %+v, want %+v", operation, got, all)
		}
		for _, warning := range warnings(events) {
			if strings.Contains(warning, "reads") {
				t.Errorf("%s: declared and real references differ: %s", operation, warning)
			}
		}
	}
	checkStatus(t, e, provider, size)
	checkOutputs(t, e)
	if got := results(e.simulate(0, "destroy")); got != all {
		t.Errorf("destroy: %+v, want %+v", got, all)
	}
	checkNothingLeft(t, e)
	if got := results(e.simulate(0, "destroy")); got != (event.Results{Skipped: size}) {
		t.Errorf("destroy of nothing: %+v, want %d skipped", got, size)
	}
}

func warnings(events []event.Event) []string {
	var texts []string
	for _, e := range events {
		if e.Type == event.RunWarning {
			texts = append(texts, e.Message)
		}
	}
	return texts
}

func checkStatus(t *testing.T, e *environment, provider string, size int) {
	t.Helper()
	r := e.run("status", "--simulate", "-o", "json")
	var status struct {
		Provider  string
		Simulated bool
		Projects  []struct {
			Project, State string
			Resources      int
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &status); err != nil || r.code != 0 {
		t.Fatalf("status: exit %d, %v\n%s", r.code, err, r.stderr)
	}
	if status.Provider != provider || !status.Simulated || len(status.Projects) != size {
		t.Errorf("status is of %q (simulated %v) with %d projects", status.Provider, status.Simulated, len(status.Projects))
	}
	for _, p := range status.Projects {
		if p.State != "deployed" || p.Resources == 0 {
			t.Errorf("status of %s: %s with %d resources, want deployed", p.Project, p.State, p.Resources)
		}
	}
}

func checkOutputs(t *testing.T, e *environment) {
	t.Helper()
	r := e.run("outputs", "bank-of-anthos", "application_url", "--simulate")
	if r.code != 0 || !strings.HasPrefix(r.stdout, "http") {
		t.Errorf("application_url: exit %d, %q %s", r.code, r.stdout, r.stderr)
	}
	hidden := e.run("outputs", "kubeconfig", "kubeconfig", "--simulate")
	if hidden.stdout != "[secret]\n" {
		t.Errorf("a secret output without --show-secrets is %q", hidden.stdout)
	}
	shown := e.run("outputs", "kubeconfig", "kubeconfig", "--simulate", "--show-secrets")
	if !strings.Contains(shown.stdout, "apiVersion") {
		t.Errorf("a secret output with --show-secrets is %q", shown.stdout)
	}
}

// checkNothingLeft looks at the state itself, the clouds and the kubeconfig.
func checkNothingLeft(t *testing.T, e *environment) {
	t.Helper()
	for project, resources := range e.stateResources() {
		if len(resources) > 0 {
			t.Errorf("%s still has %d resources in its state", project, len(resources))
		}
	}
	if left := e.cloudRecords(); len(left) > 0 {
		t.Errorf("the simulated clouds still have %v", left)
	}
	content, err := os.ReadFile(filepath.Join(e.root, ".runner/simulated/kubeconfig"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a cluster that was there before has no entries of ours
		t.Fatal(err)
	}
	if strings.Contains(string(content), "mara-") {
		t.Errorf("the kubeconfig still has the environment's entries:\n%s", content)
	}
}

// stateResources returns the resources in the state files, by project.
func (e *environment) stateResources() map[string][]string {
	e.t.Helper()
	found := map[string][]string{}
	for _, resource := range e.state() {
		found[resource.Project] = append(found[resource.Project], resource.URN)
	}
	return found
}

// stateResource is a resource in a state file.
type stateResource struct {
	URN, Type, Provider string
	Project             string `json:"-"`
}

// stateFiles returns the contents of all state files by path.
func (e *environment) stateFiles() map[string]string {
	e.t.Helper()
	files, err := filepath.Glob(filepath.Join(e.root, ".runner/simulated/state/.pulumi/stacks/*/dev.json"))
	if err != nil || len(files) == 0 {
		e.t.Fatalf("no state files: %v", err)
	}
	contents := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			e.t.Fatal(err)
		}
		contents[file] = string(content)
	}
	return contents
}

// state returns the resources in all state files, in the order of the projects' names.
func (e *environment) state() []stateResource {
	e.t.Helper()
	contents := e.stateFiles()
	var found []stateResource
	for _, file := range slices.Sorted(maps.Keys(contents)) {
		var state struct {
			Checkpoint struct {
				Latest struct{ Resources []stateResource }
			}
		}
		if err := json.Unmarshal([]byte(contents[file]), &state); err != nil {
			e.t.Fatal(err)
		}
		for _, resource := range state.Checkpoint.Latest.Resources {
			resource.Project = filepath.Base(filepath.Dir(file))
			found = append(found, resource)
		}
	}
	return found
}

// cloudRecords returns the files in which the simulated clouds store what exists.
func (e *environment) cloudRecords() []string {
	var files []string
	_ = filepath.WalkDir(filepath.Join(e.root, ".runner/simulated/clouds"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	return files
}

func TestUserFilesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	stack := "# my stack\nconfig:\n  # the provider\n  kubernetes:infra_type: kind\n  certmgr:chart_version: v1.21.1 # pinned"
	e.write("config/pulumi/Pulumi.dev.yaml", stack)
	e.simulate(0, "up")
	e.simulate(0, "destroy")
	content, err := os.ReadFile(filepath.Join(e.root, "config/pulumi/Pulumi.dev.yaml"))
	if err != nil || string(content) != stack {
		t.Errorf("the stack file was changed (%v):\n%s", err, content)
	}
	entries, err := os.ReadDir(filepath.Join(e.root, "config/pulumi"))
	if err != nil || len(entries) != 2 {
		t.Errorf("config/pulumi has %v (%v), want the two files of the user", entries, err)
	}
	if entries, _ := os.ReadDir(e.home); len(entries) > 0 {
		t.Errorf("a simulation wrote to the home directory: %v", entries)
	}
}

func TestAFaultAndCarryingOn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault   string
		part    []string // nothing for all
		message string
		fails   []string // projects that can fail; which of them do is a matter of timing
	}{
		{"kubernetes:helm.sh/v3:Release", nil, "simulated failure of kubernetes:helm.sh/v3:Release",
			[]string{"ingress-controller", "logstore", "certmgr", "prometheus"}},
		{"kubernetes:apps/v1:StatefulSet=no room on any node", nil, "no room on any node", []string{"bank-of-anthos"}},
		{"kind:index:Cluster", []string{"--only", few}, "simulated failure of kind:index:Cluster", []string{"kind-cluster"}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			part := append([]string{"-p", "kind"}, test.part...)
			events := e.simulate(1, "up", append(part, "--simulate-fail", test.fault)...)
			checkFailure(t, events, test.fails, test.message)
			if got := results(e.simulate(0, "up", part...)); got != (event.Results{Succeeded: len(events[0].Projects)}) {
				t.Errorf("resuming: %+v", got)
			}
			if names := changed(e.simulate(0, "up", part...)); len(names) > 0 {
				t.Errorf("a third up changed %v", names)
			}
		})
	}
}

// checkFailure holds a failed run against its declared edges: what failed says
// why; what needs it, directly or not, is skipped and names it as the cause.
func checkFailure(t *testing.T, events []event.Event, fails []string, message string) {
	t.Helper()
	steps := finished(events)
	failedBelow := map[string][]string{} // failed projects that a project needs
	failures := 0
	for _, project := range events[0].Projects {
		step := steps[project.Name]
		for _, need := range project.All() {
			failedBelow[project.Name] = append(failedBelow[project.Name], failedBelow[need]...)
			if steps[need].Result == event.Failed {
				failedBelow[project.Name] = append(failedBelow[project.Name], need)
			}
		}
		if step.Result == event.Failed {
			failures++
			if !slices.Contains(fails, project.Name) || !strings.Contains(step.Error, message) {
				t.Errorf("%s failed: %q; want one of %v with %q", project.Name, step.Error, fails, message)
			}
		}
		for _, cause := range failedBelow[project.Name] {
			if step.Result != event.Skipped || !slices.Contains(step.Causes, cause) {
				t.Errorf("%s, which needs %s: %s because of %v", project.Name, cause, step.Result, step.Causes)
			}
		}
	}
	if failures == 0 {
		t.Error("nothing failed")
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	for _, operation := range []string{"up", "destroy"} {
		events := e.simulate(0, operation, "-p", "kind", "--parallel", "1")
		if diff := cmp.Diff(checkOrder(t, events), startOrder(events)); diff != "" {
			t.Errorf("%s --parallel 1 does not follow the listed order:\n%s", operation, diff)
		}
	}
	checkOrder(t, e.simulate(0, "up", "--parallel", "4"))
	checkOrder(t, e.simulate(0, "destroy", "--parallel", "4"))
}

// TestLongestPathFirst: without earlier runs the declared times decide which of
// two projects starts that could, and not their place in the list.
func TestLongestPathFirst(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	order := startOrder(e.simulate(0, "preview", "-p", "aws", "--parallel", "2"))
	if diff := cmp.Diff([]string{"aws-vpc", "kic-image-build"}, order[:2]); diff != "" {
		t.Errorf("started first (-want +got):\n%s", diff)
	}
}

func startOrder(events []event.Event) []string {
	var names []string
	for _, e := range events {
		if e.Type == event.StepStarted {
			names = append(names, e.Project)
		}
	}
	return names
}

// checkOrder fails if a step started before what it needs had finished, or if
// more ran at once than allowed. It returns the listed order.
func checkOrder(t *testing.T, events []event.Event) []string {
	t.Helper()
	var listed []string
	needs := map[string][]string{}
	started, done := map[string]bool{}, map[string]bool{}
	running, limit := 0, 0
	for _, e := range events {
		switch e.Type {
		case event.RunStarted:
			limit = e.Parallel
			for _, p := range e.Projects {
				listed = append(listed, p.Name)
				needs[p.Name] = p.All()
			}
		case event.StepStarted:
			started[e.Project] = true
			if running++; running > limit {
				t.Errorf("%d steps run at once, allowed are %d", running, limit)
			}
			for _, need := range needs[e.Project] {
				if !done[need] {
					t.Errorf("%s started before %s had succeeded", e.Project, need)
				}
			}
		case event.StepFinished:
			if started[e.Project] {
				running--
			}
			done[e.Project] = e.Result == event.Succeeded
		}
	}
	if len(listed) == 0 {
		t.Error("no run.started with projects")
	}
	return listed
}
