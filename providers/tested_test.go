package providers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/projects/model"
)

// realRun is a run of tests that was not simulated, or that had a real provider. The tests write it down
// themselves: see runner/internal/testing/e2e.
type realRun struct {
	Command  string            `json:"command"` // what repeats it
	Date     string            `json:"date"`
	Provider string            `json:"provider"`
	Kind     string            `json:"kind"` // onEmulated, described, or "" for a run for real
	Projects []string          `json:"projects"`
	Parts    []string          `json:"parts"`    // what was done with them
	Versions map[string]string `json:"versions"` // of what it ran with
}

// The kinds of runs that are not for real.
const (
	onEmulated = "emulated"  // Pulumi's own provider on an emulated cloud
	described  = "described" // requests validated by a description that is not in the repository
)

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
talk to. That says nothing about a cloud's own behaviour. This page lists what has run on real systems, and what Pulumi's own providers have
done on an emulated cloud, which is not a real one.

`

// tested returns the page about the runs on real clouds, in Markdown.
func tested(runs map[string]realRun) []byte {
	forReal, emulated := ofKind(runs, ""), ofKind(runs, onEmulated)
	var b strings.Builder
	b.WriteString(testedHead)
	for _, provider := range All() {
		head, line := "| project | simulated | for real |\n|---|---|---|\n", "| %s | in every test run | %[3]s |\n"
		if hasCloud(provider) {
			head = "| project | simulated | real provider, emulated cloud | for real |\n|---|---|---|---|\n"
			line = "| %s | in every test run | %s | %s |\n"
		}
		fmt.Fprintf(&b, "## %s\n\n%s", provider.Name, head)
		for _, step := range slices.Concat(provider.Steps, provider.Optional.Steps) {
			project := step.Project.Name
			fmt.Fprintf(&b, line, project, ran(emulated, provider.Name, project), ran(forReal, provider.Name, project))
		}
		b.WriteString("\n")
	}
	writeBackends(&b, forReal)
	b.WriteString("## The real runs\n")
	writeRuns(&b, forReal)
	if len(emulated) > 0 {
		b.WriteString("\n## Real providers on an emulated cloud\n\nThe provider was Pulumi's own. The cloud was a small server of the tests.\n")
		writeRuns(&b, emulated)
	}
	if requests := ofKind(runs, described); len(requests) > 0 {
		b.WriteString("\n## Requests by descriptions that are not in the repository\n")
		writeRuns(&b, requests)
	}
	return []byte(b.String())
}

// backends are the places for states, with the tests on servers that stand in for them, which are written down.
var backends = []struct {
	name  string
	tests []string
}{
	{"S3", []string{"TestChaosOfBackends/S3", "TestReliability/S3"}},
	{"PostgreSQL", []string{"TestChaosOfBackends/PostgreSQL", "TestReliability/PostgreSQL"}},
	{"Google Cloud Storage", []string{"TestStatesInGCS"}},
	{"Azure Blob Storage", []string{"TestStatesInAzure"}},
	{"Pulumi Cloud", []string{"TestChaosOfBackends/Pulumi_Cloud", "TestStatesAtPulumiBackend"}},
}

// writeBackends writes where states were.
func writeBackends(b *strings.Builder, runs map[string]realRun) {
	head, line, servers, itself := "|", "|---|", "| servers that speak its protocol |", "| itself |"
	for _, backend := range backends {
		var found []string
		for _, name := range backend.tests {
			if run, ok := runs[name]; ok {
				found = append(found, fmt.Sprintf("[%s](#%s), %s", name, strings.ToLower(strings.ReplaceAll(name, "/", "")), run.Date))
			}
		}
		own := "never"
		switch backend.name {
		case "PostgreSQL":
			own = "the same"
		case "Pulumi Cloud":
			own = "never: it needs an account of a person"
			found = append(found, "a server of our own, in every test run")
		}
		head, line = head+" | "+backend.name, line+"---|"
		servers, itself = servers+" "+cmp.Or(strings.Join(found, "; "), "never")+" |", itself+" "+own+" |"
	}
	fmt.Fprintf(b, "## Where states were\n\nStates in files are those of every test run.\n\n%s |\n%s\n%s\n%s\n\n", head, line, servers, itself)
}

// ofKind returns the runs of a kind.
func ofKind(runs map[string]realRun, kind string) map[string]realRun {
	of := map[string]realRun{}
	for name, run := range runs {
		if run.Kind == kind {
			of[name] = run
		}
	}
	return of
}

// descriptions are what the requests of each cloud are validated by in every test run: files of scripts/requests/testdata,
// whose names have the version, and words about it.
var descriptions = map[string]struct{ files, words string }{
	"aws":    {"aws-*.json", "names, values, patterns and lengths of inputs, by the models in AWS's SDK %s"},
	"linode": {"linode-*.json.gz", "clusters, machines and firewalls, as Linode's SDK sends them, by Linode's description %s"},
}

// rehearsals returns the table of docs/simulation.md about what was done for each provider.
func rehearsals(t *testing.T, runs map[string]realRun) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(rehearsalsHead)
	for _, p := range All() {
		requests, emulated := "there is no such API", "there is no cloud"
		if hasCloud(p) {
			requests, emulated = byDescription(t, runs, p), latest(ofKind(runs, onEmulated), p.Name)
		}
		fmt.Fprintf(&b, "| `%s` | all projects, in every test run | %s | %s | %s |\n", p.Name, requests, emulated, latest(ofKind(runs, ""), p.Name))
	}
	return b.String()
}

const rehearsalsHead = "| provider | simulated | requests valid by the official description | real provider on an emulated cloud | real account |\n" +
	"|---|---|---|---|---|\n"

// byDescription says by what the requests to a provider's cloud are validated.
func byDescription(t *testing.T, runs map[string]realRun, p model.Provider) string {
	t.Helper()
	d, ok := descriptions[p.Name]
	if !ok {
		return "its SDK takes all inputs, in every test run; by the description itself: " + latest(ofKind(runs, described), p.Name)
	}
	files, err := filepath.Glob("../scripts/requests/testdata/" + d.files)
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %v, %v", d.files, files, err)
	}
	name, _, _ := strings.Cut(filepath.Base(files[0]), ".json")
	return fmt.Sprintf(d.words, strings.TrimPrefix(name, p.Name+"-"))
}

// latest says when a provider was part of runs last, with the projects; "never" if it was in none.
func latest(runs map[string]realRun, provider string) string {
	date := ""
	projects := map[string]bool{}
	for _, run := range runs {
		if run.Provider != provider {
			continue
		}
		date = max(date, run.Date)
		for _, project := range run.Projects {
			projects[project] = true
		}
	}
	if date == "" {
		return "never"
	}
	of := fmt.Sprintf("%d projects", len(projects))
	if len(projects) == 1 {
		of = "`" + slices.Collect(maps.Keys(projects))[0] + "`"
	}
	return fmt.Sprintf("%s, [last on %s](tested.md)", of, date)
}

// hasCloud reports whether a provider asks a cloud with credentials.
func hasCloud(p model.Provider) bool { return len(p.Account.Credentials) > 0 }

// writeRuns writes a section for each run.
func writeRuns(b *strings.Builder, runs map[string]realRun) {
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		run := runs[name]
		fmt.Fprintf(b, "\n### %s\n\n`%s`, %s, with %s:\n\n", name, run.Command, run.Date, versions(run.Versions))
		for _, part := range run.Parts {
			fmt.Fprintf(b, "- %s\n", part)
		}
	}
}

// ran names the runs that a project was part of.
func ran(runs map[string]realRun, provider, project string) string {
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
		steps := slices.Concat(provider.Steps, provider.Optional.Steps)
		for _, project := range run.Projects {
			if !slices.ContainsFunc(steps, func(s model.Step) bool { return s.Project.Name == project }) {
				t.Errorf("%s: %s has no project %s any more", name, run.Provider, project)
			}
		}
	}
}
