package programs_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/model"
	"mara/projects/programs"
	"mara/providers"
)

// TestChartsKnowTheValues renders every Helm release of every program, over
// providers and configurations, and holds its values against what is known of
// the chart at the pinned version (testdata/charts, with sources). Helm itself
// says nothing about a key that no template reads.
func TestChartsKnowTheValues(t *testing.T) {
	t.Parallel()
	charts := readCharts(t)
	seen := map[string]bool{}
	for _, provider := range providers.Complete() {
		for _, step := range provider.Steps {
			for _, settings := range chartConfigurations(t, step.Project, provider.Name) {
				for _, release := range releases(t, step.Project, settings) {
					name := path.Base(release.Value("chart").(string))
					seen[name] = true
					for _, problem := range charts[name].check(release) {
						t.Errorf("%s on %s with %v: chart %s: %s", step.Project.Name, provider.Name, settings, name, problem)
					}
				}
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(charts)), slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("charts differ (-testdata +released):\n%s", diff)
	}
}

// TestAnUnknownValueIsFound sees the check fail.
func TestAnUnknownValueIsFound(t *testing.T) {
	t.Parallel()
	var known chart
	if err := yaml.Unmarshal([]byte(`{version: "1", values: {a: {b: bool}, l: [{n: text}], free: map, text: text}}`), &known); err != nil {
		t.Fatal(err)
	}
	release := programtest.Resource{Inputs: resource.NewPropertyMapFromMap(map[string]any{
		"version": "2",
		"values": map[string]any{
			"a":    map[string]any{"b": "true", "c": true},
			"l":    []any{map[string]any{"n": "x"}, map[string]any{"m": "x"}},
			"free": map[string]any{"x": 1}, "text": 3, "z": 1,
		},
	})}
	want := []string{
		`testdata is about version "1", the program releases 2`,
		"a.b: is a text, the chart takes a bool", "a.c: the chart does not know it", "l[1].m: the chart does not know it",
		"text: is a number, the chart takes a text", "z: the chart does not know it",
	}
	if diff := cmp.Diff(want, known.check(release)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got := (chart{}).check(release); len(got) != 1 {
		t.Errorf("a chart without testdata: %v, want one problem", got)
	}
}

// chart is what testdata says about one chart.
type chart struct {
	Chart, Version string
	Values         map[string]any
}

// readCharts reads testdata by the names of the charts.
func readCharts(t *testing.T) map[string]chart {
	t.Helper()
	files, err := fs.Glob(os.DirFS("testdata/charts"), "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	charts := map[string]chart{}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join("testdata/charts", file))
		if err != nil {
			t.Fatal(err)
		}
		var c chart
		decoder := yaml.NewDecoder(bytes.NewReader(content))
		decoder.KnownFields(true)
		if err := decoder.Decode(&c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if c.Chart+".yaml" != file {
			t.Errorf("%s is about the chart %q", file, c.Chart)
		}
		charts[c.Chart] = c
	}
	return charts
}

// check lists what the chart does not know of a release.
func (c chart) check(release programtest.Resource) []string {
	if c.Version == "" {
		return []string{"testdata/charts says nothing about it: write down which values it knows, and where that is said"}
	}
	var problems []string
	if version := release.Value("version"); version != c.Version {
		problems = append(problems, fmt.Sprintf("testdata is about version %q, the program releases %v", c.Version, version))
	}
	values := resource.NewProperty(resource.PropertyMap{})
	if given := release.Input("values"); given.IsObject() {
		values = given
	}
	return append(problems, compare("", c.Values, values)...)
}

// compare holds a value against what is known of its place: a kind; "map" for
// content of the user's own; the keys of a map; or the items of a list.
func compare(at string, known any, value resource.PropertyValue) []string {
	value = plain(value)
	switch want := known.(type) {
	case nil:
		return []string{at + ": the chart does not know it"}
	case map[string]any:
		if !value.IsObject() {
			return []string{fmt.Sprintf("%s: is a %s, the chart takes a map", at, kindOf(value))}
		}
		return compareKeys(at, want, value.ObjectValue())
	case []any:
		if !value.IsArray() {
			return []string{fmt.Sprintf("%s: is a %s, the chart takes a list", at, kindOf(value))}
		}
		var problems []string
		for i, item := range value.ArrayValue() {
			problems = append(problems, compare(fmt.Sprintf("%s[%d]", at, i), want[0], item)...)
		}
		return problems
	}
	if got := kindOf(value); got != known {
		return []string{fmt.Sprintf("%s: is a %s, the chart takes a %v", at, got, known)}
	}
	return nil
}

func compareKeys(at string, known map[string]any, values resource.PropertyMap) []string {
	var problems []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		place := strings.TrimPrefix(at+"."+string(key), ".")
		problems = append(problems, compare(place, known[string(key)], values[key])...)
	}
	return problems
}

// kindOf names the kind of a value as testdata does.
func kindOf(value resource.PropertyValue) string {
	switch {
	case value.IsString():
		return "text"
	case value.IsNumber():
		return "number"
	case value.IsBool():
		return "bool"
	case value.IsArray():
		return "list"
	case value.IsObject():
		return "map"
	}
	return value.TypeString()
}

// chartConfigurations returns the configurations under which a project's releases may have
// different values, none for a project without a release.
func chartConfigurations(t *testing.T, project model.Project, provider string) []map[string]string {
	t.Helper()
	if !slices.ContainsFunc(project.Keys, isChartVersion) {
		return nil
	}
	changes := append([]map[string]string{nil, {projects.Mirror: "registry.example.com/mirror"}}, variants(t)[project.Name]...)
	if _, ok := project.Key(projects.StorageClass); ok {
		changes = append(changes, map[string]string{projects.StorageClass: "fast"})
	}
	var all []map[string]string
	for _, change := range changes {
		settings := configuration(t, project, provider)
		maps.Copy(settings, change)
		all = append(all, settings)
	}
	return all
}

// isChartVersion tells the key that every release has.
func isChartVersion(key config.Key) bool { return strings.HasSuffix(key.Name, projects.ChartVersion) }

// releases runs a project's program with everything else deployed.
func releases(t *testing.T, project model.Project, settings map[string]string) []programtest.Resource {
	t.Helper()
	program, ok := programs.ByName(project.Name)
	if !ok {
		t.Fatalf("project %s has no program", project.Name)
	}
	result := programtest.Run(t, programtest.Case{Project: project, Program: program, Config: settings, Stacks: deployed(), Call: invoke(t)})
	if result.Err != nil {
		t.Fatalf("%s with %v: %v", project.Name, settings, result.Err)
	}
	found := result.All("kubernetes:helm.sh/v3:Release")
	if len(found) == 0 {
		t.Errorf("%s has keys for a chart, but releases none", project.Name)
	}
	return found
}

// deployed returns the outputs of all projects.
func deployed() map[string]resource.PropertyMap {
	stacks := known()
	for _, project := range projects.All() {
		if stacks[project.Name] != nil {
			continue
		}
		stacks[project.Name] = sampleOutputs(project)
	}
	return stacks
}
