package requests

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// awsVersion is the version of AWS's SDK with the models, the last one of its kind, as modelsFile has them.
const (
	awsVersion = "v1.55.8"
	modelsFile = "testdata/aws-" + awsVersion + ".json"
)

var update = flag.Bool("update", false, "make testdata/aws-*.json of the models in AWS's SDK, which the module proxy has")

// shape is a type in a model of AWS.
type shape struct {
	Type      string           `json:"type"`
	Members   map[string]shape `json:"members,omitempty"` // of a structure, each with the name of its own shape
	Required  []string         `json:"required,omitempty"`
	Member    *shape           `json:"member,omitempty"` // of a list
	Value     *shape           `json:"value,omitempty"`  // of a map
	Shape     string           `json:"shape,omitempty"`  // name of the shape that says the rest
	Enum      []string         `json:"enum,omitempty"`
	Pattern   string           `json:"pattern,omitempty"`
	Min       *float64         `json:"min,omitempty"`
	Max       *float64         `json:"max,omitempty"`
	Exception bool             `json:"exception,omitempty"`
}

// model has the shapes of one service by name.
type model map[string]shape

// readModels reads the models of all services.
func readModels(t *testing.T) map[string]model {
	t.Helper()
	content, err := os.ReadFile(modelsFile)
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]model{}
	if err := json.Unmarshal(content, &models); err != nil {
		t.Fatal(err)
	}
	return models
}

// TestModels: the models are there for each request; -update makes them anew.
func TestModels(t *testing.T) {
	if *update {
		writeModels(t)
	}
	models := readModels(t)
	for kind, sent := range awsRequests {
		for _, r := range sent {
			if len(models[r.service][r.shape].Members) == 0 {
				t.Errorf("%s: there is no %s of %s; run this test with -update", kind, r.shape, r.service)
			}
		}
	}
}

// writeModels writes what requests consist of, without the rest of the models.
func writeModels(t *testing.T) {
	t.Helper()
	fetch := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/aws/aws-sdk-go@"+awsVersion)
	fetch.Dir = t.TempDir()
	output, err := fetch.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(output, &module); err != nil {
		t.Fatal(err)
	}
	models := map[string]model{}
	for _, sent := range awsRequests {
		for _, r := range sent {
			files, err := filepath.Glob(filepath.Join(module.Dir, "models", "apis", r.service, "*", "api-2.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("there is no model of %s (%v)", r.service, err)
			}
			content, err := os.ReadFile(slices.Max(files))
			if err != nil {
				t.Fatal(err)
			}
			var whole struct {
				Shapes model `json:"shapes"`
			}
			if err := json.Unmarshal(content, &whole); err != nil {
				t.Fatal(err)
			}
			if models[r.service] == nil {
				models[r.service] = model{}
			}
			models[r.service].take(whole.Shapes, r.shape)
		}
	}
	content, err := json.MarshalIndent(models, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(modelsFile, append(content, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// take takes a shape, and the shapes that it consists of, from another model.
func (m model) take(from model, name string) {
	if _, taken := m[name]; taken || name == "" {
		return
	}
	s := from[name]
	m[name] = s
	for _, member := range s.Members {
		m.take(from, member.Shape)
	}
	for _, part := range []*shape{s.Member, s.Value} {
		if part != nil {
			m.take(from, part.Shape)
		}
	}
}

// invalid returns what is wrong with a value by a shape. Values that are not known yet are right.
func (m model) invalid(path, name string, value any) (wrong []string) {
	s := m[name]
	if value == unknown || value == secret {
		return nil
	}
	fail := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s is %v: ", path, value)+fmt.Sprintf(format, args...))
	}
	switch value := value.(type) {
	case map[string]any:
		switch s.Type {
		case "structure":
			for _, name := range s.Required {
				if _, ok := value[name]; !ok {
					fail("%s is missing", name)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(value)) {
				member, ok := s.Members[name]
				if !ok {
					fail("%s has no %s", path, name)
					continue
				}
				wrong = append(wrong, m.invalid(path+"."+name, member.Shape, value[name])...)
			}
		case "map":
			for key, item := range value {
				wrong = append(wrong, m.invalid(path+"."+key, s.Value.Shape, item)...)
			}
		default:
			fail("it has to be a %s", s.Type)
		}
	case []any:
		if s.Type != "list" {
			fail("it has to be a %s", s.Type)
			break
		}
		s.checkRange(float64(len(value)), fail)
		for i, item := range value {
			wrong = append(wrong, m.invalid(fmt.Sprintf("%s[%d]", path, i), s.Member.Shape, item)...)
		}
	case string:
		s.checkText(value, fail)
	case float64:
		if !slices.Contains([]string{"integer", "long", "float", "double"}, s.Type) {
			fail("it has to be a %s", s.Type)
		}
		s.checkRange(value, fail)
	case bool:
		if s.Type != "boolean" {
			fail("it has to be a %s", s.Type)
		}
	}
	return wrong
}

// checkText checks a string by its list of values, its pattern and its length.
func (s shape) checkText(value string, fail func(string, ...any)) {
	if s.Type != "string" {
		fail("it has to be a %s", s.Type)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		fail("it has to be one of %v", s.Enum)
	}
	s.checkRange(float64(utf8.RuneCountInString(value)), fail)
	if s.Pattern == "" {
		return
	}
	pattern := s.Pattern
	if !strings.HasPrefix(pattern, "^") {
		pattern = "^(?:" + pattern + ")$" // AWS writes patterns of whole values without ^ and $
	}
	compiled, err := regexp2.Compile(pattern, regexp2.RegexOptions(0))
	if err != nil {
		fail("the pattern %s: %v", s.Pattern, err)
		return
	}
	if matches, err := compiled.MatchString(value); err != nil || !matches {
		fail("it has to match %s", s.Pattern)
	}
}

// checkRange checks a number, or a length.
func (s shape) checkRange(number float64, fail func(string, ...any)) {
	if s.Min != nil && number < *s.Min || s.Max != nil && number > *s.Max {
		fail("%v is not from %v to %v", number, bound(s.Min), bound(s.Max))
	}
}

func bound(number *float64) any {
	if number == nil {
		return "any"
	}
	return *number
}
