package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// snapshot is all there is in a directory, without what differs from one to the next.
type snapshot struct {
	projects map[string][]any  // resources of the states, by project and stack
	clouds   map[string]string // records of the clouds, by path
}

// snapshot takes one.
func (e *environment) snapshot() snapshot {
	e.t.Helper()
	s := snapshot{projects: map[string][]any{}, clouds: map[string]string{}}
	files, _ := filepath.Glob(filepath.Join(e.root, ".runner/simulated/state/.pulumi/stacks/*/*.json"))
	for _, file := range files {
		if resources := e.exported(file); len(resources) > 0 {
			s.projects[filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file)] = resources
		}
	}
	clouds := filepath.Join(e.root, ".runner/simulated/clouds")
	for _, file := range e.cloudRecords() {
		content, err := os.ReadFile(file)
		if err != nil {
			e.t.Fatal(err)
		}
		name, _ := filepath.Rel(clouds, file)
		s.clouds[e.neutral(name)] = e.neutral(string(content))
	}
	return s
}

// exported returns the resources of a state, sorted.
func (e *environment) exported(file string) []any {
	e.t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		e.t.Fatal(err)
	}
	var state struct {
		Checkpoint struct {
			Latest struct {
				Resources []map[string]any
				Pending   []any `json:"pending_operations"`
			}
		}
	}
	if err := json.Unmarshal([]byte(e.neutral(string(content))), &state); err != nil {
		e.t.Fatalf("%s: %v", file, err)
	}
	if n := len(state.Checkpoint.Latest.Pending); n > 0 {
		e.t.Errorf("%s still has %d pending operations", file, n)
	}
	resources := state.Checkpoint.Latest.Resources
	slices.SortFunc(resources, func(a, b map[string]any) int {
		return strings.Compare(a["urn"].(string), b["urn"].(string))
	})
	all := make([]any, len(resources))
	for i, resource := range resources {
		for _, key := range []string{"created", "modified", "sourcePosition"} {
			delete(resource, key)
		}
		sortTexts(resource["dependencies"])
		if of, ok := resource["propertyDependencies"].(map[string]any); ok {
			for _, needs := range of {
				sortTexts(needs)
			}
		}
		all[i] = withoutCiphertext(resource)
	}
	return all
}

// sortTexts sorts what Pulumi lists in any order.
func sortTexts(list any) {
	if texts, ok := list.([]any); ok {
		slices.SortFunc(texts, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
}

// What differs from one environment to the next by chance: ids of Pulumi's own
// resources for providers.
var byChance = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// neutral removes the environment's directories and random values from a text.
func (e *environment) neutral(text string) string {
	text = strings.ReplaceAll(text, e.root, "ROOT")
	return byChance.ReplaceAllString(text, "BY-CHANCE")
}

// withoutCiphertext replaces secrets, which are never encrypted twice to the
// same.
func withoutCiphertext(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v["ciphertext"] != nil {
			return "[secret]"
		}
		for key, inner := range v {
			v[key] = withoutCiphertext(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = withoutCiphertext(inner)
		}
	}
	return value
}

// compare holds an environment against an undisturbed one.
func compare(t *testing.T, want, got snapshot) {
	t.Helper()
	for project := range want.projects {
		if diff := cmp.Diff(want.projects[project], got.projects[project]); diff != "" {
			t.Errorf("the state of %s differs from that of an undisturbed run (-want +got):\n%.3000s", project, diff)
		}
	}
	for project, resources := range got.projects {
		if want.projects[project] == nil {
			t.Errorf("the state of %s has %d resources, and that of an undisturbed run none", project, len(resources))
		}
	}
	if diff := cmp.Diff(want.clouds, got.clouds); diff != "" {
		t.Errorf("what exists differs from what an undisturbed run makes (-want +got):\n%.3000s", diff)
	}
}

// existing returns the flags that name, for repair, what exists in the clouds although
// its creation was cut off, as a user would look it up.
func (e *environment) existing(stack string) []string {
	e.t.Helper()
	pending := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(e.root, ".runner/simulated/state/.pulumi/stacks/*/"+stack+".json"))
	for _, file := range files {
		var state struct {
			Checkpoint struct {
				Latest struct {
					Pending []struct {
						Type     string
						Resource struct{ URN string }
					} `json:"pending_operations"`
				}
			}
		}
		content, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(content, &state) != nil {
			continue // it was cut off, and is restored first
		}
		for _, operation := range state.Checkpoint.Latest.Pending {
			pending[operation.Resource.URN] = operation.Type == "creating"
		}
	}
	var flags []string
	for _, file := range e.cloudRecords() {
		var record struct{ URN, ID string }
		content, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(content, &record) == nil && pending[record.URN] {
			flags = append(flags, "--import", record.URN+"="+record.ID)
		}
	}
	return flags
}
