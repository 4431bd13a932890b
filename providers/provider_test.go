package providers

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
)

// TestLists compares the plans with the contract that `runner plan` prints: name, reads,
// after. The lists are in testdata, one file per provider.
func TestLists(t *testing.T) {
	t.Parallel()
	for _, p := range Complete() {
		var got strings.Builder
		for _, s := range p.Steps {
			line := s.Project.Name + " | " + strings.Join(s.Reads, " ") + " | " + strings.Join(s.After, " ")
			got.WriteString(strings.TrimSpace(strings.ReplaceAll(line, "|  |", "| |")) + "\n")
		}
		checkGolden(t, filepath.Join("testdata", "lists", p.Name+".txt"), []byte(got.String()))
	}
}

// checkGolden holds a text against the file that it is kept in.
func checkGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run `go test ./providers -update`: %s: %s", path, diff)
	}
}

// TestProvidersFitTheCatalogue holds what the catalogue says about a project
// against the lists it is in.
func TestProvidersFitTheCatalogue(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, p := range Complete() {
		for _, s := range p.Steps {
			used[s.Project.Name] = true
			if !projects.Serves(s.Project, p.Name) {
				t.Errorf("%s: %s does not belong to it", p.Name, s.Project.Name)
			}
			isCluster := s.Project.Name == p.ClusterProject
			if hooked := s.Project.HasHook(model.HookKubeconfig); hooked != (isCluster && p.Existing == nil) {
				t.Errorf("%s: %s has the kubeconfig hook: %v", p.Name, s.Project.Name, hooked)
			}
			if _, ok := s.Project.Output("kubeconfig"); isCluster && !ok {
				t.Errorf("%s: %s has no output kubeconfig", p.Name, s.Project.Name)
			}
		}
		if !slices.ContainsFunc(p.Steps, func(s model.Step) bool { return s.Project.Name == p.Registry.Project }) {
			t.Errorf("%s: no registry project", p.Name)
		}
	}
	for _, project := range projects.All() {
		if !used[project.Name] {
			t.Errorf("no provider has %s", project.Name)
		}
	}
	infraType, ok := projects.ByName("kubeconfig")
	if key, found := infraType.Key(config.InfraType); !ok || !found || !slices.Equal(key.Allowed, Names()) {
		t.Errorf("%s allows other providers than there are", config.InfraType)
	}
}

// TestAllIsFresh: a change to one result of All does not affect the next one.
func TestAllIsFresh(t *testing.T) {
	t.Parallel()
	first := All()
	first[0].Steps[1].Reads[0] = "changed"
	if got := All()[0].Steps[1].Reads[0]; got != "aws-vpc" {
		t.Errorf("got %s", got)
	}
}

func TestByNameUnknown(t *testing.T) {
	t.Parallel()
	known := "; known: " + strings.Join(Names(), ", ")
	tests := []struct{ name, want string }{
		{"gke", `unknown provider "gke"` + known},
		{"AWS", `unknown provider "AWS"` + known + `; did you mean "aws"?`},
		{"linod", `unknown provider "linod"` + known + `; did you mean "linode"?`},
		{"", `unknown provider ""` + known},
	}
	for _, tt := range tests {
		if _, err := ByName(tt.name); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, key := range Keys() {
		if seen[key.Name] {
			t.Errorf("%s is listed twice", key.Name)
		}
		seen[key.Name] = true
	}
	for _, project := range projects.All() {
		for _, key := range project.Keys {
			if !seen[key.Name] {
				t.Errorf("%s of %s is missing", key.Name, project.Name)
			}
		}
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// referenceHead begins the page of the built-in projects.
const referenceHead = `# The projects

<!-- Made from the catalogue in projects/ by the tests of providers/. Change it there, then: make golden -->

Every project is a Pulumi program of its own; a provider's plan puts them in order (` + "`runner plan -p PROVIDER`" + `).
Configuration keys are set in ` + "`config/pulumi/Pulumi.<stack>.yaml`" + `, secrets with ` + "`runner secrets`" + `.

`

// builtInReference returns the page of the built-in projects.
func builtInReference() []byte { return Reference(referenceHead, Complete(), projects.All()) }

// TestGenerated keeps the committed files that are made from the catalogue in
// step with it: go test ./providers -run Generated -update
func TestGenerated(t *testing.T) {
	t.Parallel()
	for path, got := range map[string][]byte{
		"../config/pulumi/Pulumi.stackname.yaml.example": StackExample(),
		"../docs/projects.md":                            builtInReference(),
		"../docs/tested.md":                              tested(realRuns(t)),
		"../docs/simulation.md":                          simulation(t),
		"../README.md":                                   readme(t),
	} {
		checkGolden(t, path, got)
	}
}

// simulation returns docs/simulation.md with the current table of what was done for each provider.
func simulation(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), rehearsalsHead)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatal("docs/simulation.md has no table of rehearsals")
	}
	return []byte(before + rehearsals(t, realRuns(t)) + "\n" + after)
}

// readme returns the README with the current table of providers.
func readme(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const head = "| provider | cluster | registry | projects |\n|---|---|---|---|\n"
	before, rest, found := strings.Cut(string(text), head)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatal("the README has no table of providers")
	}
	var rows []string
	for _, p := range All() {
		cluster, _ := projects.ByName(p.ClusterProject)
		registry, _ := projects.ByName(p.Registry.Project)
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %d |", p.Name, cluster.Title, registry.Title, len(p.Steps)))
	}
	return []byte(before + head + strings.Join(rows, "\n") + "\n\n" + after)
}

// TestReferenceIsComplete looks for everything that the catalogue says.
func TestReferenceIsComplete(t *testing.T) {
	t.Parallel()
	sections := strings.Split(string(builtInReference()), "\n## ")[1:]
	for i, project := range projects.All() {
		wanted := []string{project.Name + "\n", project.Title, project.Summary, "`projects/" + project.Path + "`"}
		for _, key := range project.Keys {
			wanted = append(wanted, "| `"+key.Name+"` |", key.Doc)
		}
		for _, secret := range project.Secrets {
			wanted = append(wanted, "| `"+secret.Key+"` |", secret.Doc)
		}
		for _, output := range project.Outputs {
			wanted = append(wanted, "| `"+output.Name+"` |", output.Doc)
		}
		for _, text := range wanted {
			if !strings.Contains(sections[i], text) {
				t.Errorf("the section of %s lacks %q", project.Name, text)
			}
		}
	}
	var clusters []string
	for _, p := range All() {
		clusters = append(clusters, fmt.Sprintf("[%[1]s](#%[1]s) (%[2]s)", p.ClusterProject, p.Name))
	}
	for section, text := range map[string]string{
		"kubeconfig":     "- Reads the outputs of: " + strings.Join(clusters, ", ") + "\n",
		"kic-image-push": "- Waits for: [linode-harbor-configuration](#linode-harbor-configuration)",
		"aws-vpc":        "Allowed: single, per-az, none",
		"linode-lke":     "- Providers: linode\n",
	} {
		i := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, section+"\n") })
		if !strings.Contains(sections[i], text) {
			t.Errorf("the section of %s lacks %q:\n%s", section, text, sections[i])
		}
	}
}

// TestStackExampleIsValid reads the example as it is and with every key set.
func TestStackExampleIsValid(t *testing.T) {
	t.Parallel()
	example := StackExample()
	complete := regexp.MustCompile(`(?m)^  #(\S)`).ReplaceAll(example, []byte("  $1"))
	for name, content := range map[string][]byte{"as it is": example, "every key set": complete} {
		file, err := config.ParseStack("example", content)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := file.Validate(Keys(), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if bytes.Equal(content, complete) && len(file.Entries) != len(Keys()) {
			t.Errorf("%s: %d of %d keys", name, len(file.Entries), len(Keys()))
		}
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	for _, p := range All() {
		seen := map[string]bool{}
		for _, q := range p.Questions {
			key := p.Key(q.Key) // panics for an undeclared key
			if q.Text == "" || seen[q.Key] || key.Required && q.When != nil {
				t.Errorf("%s: %+v", p.Name, q)
			}
			for _, other := range []string{q.DefaultKey, q.AtLeast, q.AtMost} {
				if other != "" && !seen[other] && other != q.AtMost {
					t.Errorf("%s: %s comes before %s, which it needs", p.Name, q.Key, other)
				}
			}
			if q.When != nil && !seen[q.When.Key] {
				t.Errorf("%s: %s comes before %s, on which it depends", p.Name, q.Key, q.When.Key)
			}
			seen[q.Key] = true
		}
		for _, key := range p.Missing(config.StackFile{}, config.Sources{}) {
			if !seen[key.Name] {
				t.Errorf("%s: nothing asks for %s", p.Name, key.Name)
			}
		}
	}
}

func TestCheckProvider(t *testing.T) {
	t.Parallel()
	aws, err := ByName("aws")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string][]string{
		"": nil,
		"eks:min_size: 2, eks:max_size: '4', eks:desired_capacity: 3": nil,
		"eks:max_size: 2":         {"f:1: eks:max_size is 2; it may not be less than eks:min_size (3)", "f:1: eks:max_size is 2; it may not be less than eks:desired_capacity (3)"},
		"eks:desired_capacity: 9": {"f:1: eks:desired_capacity is 9; it may not be more than eks:max_size (6)"},
		"eks:min_size: 4":         {"f:1: eks:min_size is 4; it may not be more than eks:desired_capacity (3)"},
		"eks:min_size: many":      nil,
	} {
		file, err := config.ParseStack("f", []byte("config: {"+in+"}"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		problems, _ := aws.Judge(file, "")
		for _, problem := range problems {
			got = append(got, problem.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}
