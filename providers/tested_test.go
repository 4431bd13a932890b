package providers

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// realRun is a run of tests that was not simulated. The tests write it down
// themselves: see runner/internal/testing/e2e.
type realRun struct {
	Command  string            `json:"command"` // what repeats it
	Date     string            `json:"date"`
	Provider string            `json:"provider"`
	Projects []string          `json:"projects"`
	Parts    []string          `json:"parts"`    // what was done with them
	Versions map[string]string `json:"versions"` // of what it ran with
}

// realRunsFile holds a realRun a test.
const realRunsFile = "../docs/tested.json"

func realRuns(t *testing.T) map[string]realRun {
	t.Helper()
	content, err := os.ReadFile(realRunsFile)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]realRun{}
	if err := json.Unmarshal(content, &runs); err != nil {
		t.Fatalf("%s: %v", realRunsFile, err)
	}
	return runs
}

const testedHead = `# What was run

<!-- Made from docs/tested.json and the catalogue by the tests of providers/. Run the tests again with RECORD=1, then: make golden -->

Every test of every change runs all projects of all providers simulated: Pulumi's real engine, and stand-ins for what it would
talk to. That says nothing about a cloud's own behaviour. What was run for real stands here, and nothing else.

`

// tested returns the page about the runs on real clouds, in Markdown.
func tested(runs map[string]realRun) []byte {
	var b strings.Builder
	b.WriteString(testedHead)
	for _, provider := range All() {
		fmt.Fprintf(&b, "## %s\n\n| project | simulated | for real |\n|---|---|---|\n", provider.Name)
		for _, step := range provider.Steps {
			fmt.Fprintf(&b, "| %s | in every test run | %s |\n", step.Project.Name, whenReal(runs, provider.Name, step.Project.Name))
		}
		b.WriteString("\n")
	}
	b.WriteString("## The real runs\n")
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		run := runs[name]
		fmt.Fprintf(&b, "\n### %s\n\n`%s`, %s, with %s:\n\n", name, run.Command, run.Date, versions(run.Versions))
		for _, part := range run.Parts {
			fmt.Fprintf(&b, "- %s\n", part)
		}
	}
	return []byte(b.String())
}

// whenReal names the tests that have run a project for real.
func whenReal(runs map[string]realRun, provider, project string) string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		if run := runs[name]; run.Provider == provider && slices.Contains(run.Projects, project) {
			found = append(found, fmt.Sprintf("[%s](#%s), %s", name, strings.ToLower(name), run.Date))
		}
	}
	if len(found) == 0 {
		return "never"
	}
	return strings.Join(found, "; ")
}

func versions(versions map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		all = append(all, name+" "+versions[name])
	}
	return strings.Join(all, ", ")
}

// TestRealRunsAreOfThisCatalogue holds that what was written down still exists.
func TestRealRunsAreOfThisCatalogue(t *testing.T) {
	t.Parallel()
	for name, run := range realRuns(t) {
		if run.Provider == "own" { // projects of a user, which the test writes itself
			continue
		}
		provider, err := ByName(run.Provider)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, project := range run.Projects {
			if !slices.ContainsFunc(provider.Steps, func(s Step) bool { return s.Project.Name == project }) {
				t.Errorf("%s: %s has no project %s any more", name, run.Provider, project)
			}
		}
	}
}
