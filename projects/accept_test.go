package projects_test

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
)

// wrongValues returns values of the right type that a key refuses.
func wrongValues(key config.Key) (values []any) {
	candidates := []any{}
	switch key.Kind {
	case config.String:
		for _, text := range []string{"no such value", "-", "!", "a b", "ä/..", "*", strings.Repeat("x", 300)} {
			candidates = append(candidates, text)
		}
	case config.Int:
		candidates = append(candidates, -7, 1<<30)
	case config.List:
		candidates = append(candidates, []any{"no such value"}, []any{"!"}, []any{"a", "a"})
	default:
		return nil
	}
	for _, value := range candidates {
		if key.Validate(value) != nil {
			values = append(values, value)
		}
	}
	return values
}

// TestEveryRefusalIsAccepted: whatever a key of the catalogue refuses, by its form, its set or its bounds, the stack file can
// accept with the line that the message names.
func TestEveryRefusalIsAccepted(t *testing.T) {
	t.Parallel()
	refused := 0
	for _, project := range projects.All() {
		for _, key := range project.Keys {
			for _, value := range wrongValues(key) {
				text, err := yaml.Marshal(map[string]any{"config": map[string]any{key.Name: value}})
				if err != nil {
					t.Fatal(err)
				}
				check := func(more string) []config.Problem {
					file, err := config.ParseStack("f", append(text, more...))
					if err != nil {
						t.Fatal(err)
					}
					return file.Check(append([]config.Key{config.AcceptDeclaration()}, project.Keys...))
				}
				refused++
				said := check("")
				line := fmt.Sprintf("runner:accept: [%q]", key.Name)
				if len(said) != 1 || !strings.HasSuffix(said[0].HowToAccept(), "write  "+line) {
					t.Errorf("%s %v: the line that accepts it is not named: %v", key.Name, value, said)
				}
				if said := check("    " + line + "\n"); len(said) > 0 {
					t.Errorf("%s %v: refused although it is accepted: %v", key.Name, value, said)
				}
			}
		}
	}
	if refused < 300 {
		t.Errorf("only %d values were refused", refused)
	}
}

// TestEveryFindingIsAccepted: a rule of the catalogue finds nothing about a key that is accepted, whatever its value.
func TestEveryFindingIsAccepted(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, project := range projects.All() {
		for _, key := range project.Keys {
			for _, value := range append(wrongValues(key), map[string]any{"x": map[string]any{"y": []any{1}}}, "", 0, 1<<20, "0.0.0.0/0") {
				get := func(name string) any {
					if name == key.Name {
						return value
					}
					declared, _ := project.Key(name)
					return declared.Default
				}
				values := config.Values{Get: get, IsSet: func(name string) bool { return name == key.Name }}
				plain, _ := config.ParseStack("f", []byte("config: {}\n"))
				problems, doubts := plain.Judge(project.Rules, values)
				for _, p := range append(problems, doubts...) {
					found[p.Key] = true
					accepting, err := config.ParseStack("f", fmt.Appendf(nil, "config:\n  runner:accept: [%q]\n", p.Key))
					if err != nil {
						t.Fatal(err)
					}
					again, more := accepting.Judge(project.Rules, values)
					for _, q := range append(again, more...) {
						if q.Key == p.Key {
							t.Errorf("%s: %s although it is accepted", p.Key, q.Text)
						}
					}
				}
				for _, p := range problems {
					if !strings.Contains(p.HowToAccept(), p.Key) || p.Key == "" {
						t.Errorf("nothing overrides %v", p)
					}
				}
			}
		}
	}
	if len(found) < 30 {
		t.Errorf("rules found something about %d keys only", len(found))
	}
}
