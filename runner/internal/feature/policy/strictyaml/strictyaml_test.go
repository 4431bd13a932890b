package strictyaml

import (
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	type part struct {
		Price *float64 `yaml:"price"`
		Count int      `yaml:"count"`
		On    bool     `yaml:"on"`
	}
	type file struct {
		Name  string           `yaml:"name"`
		List  []string         `yaml:"list"`
		Types map[string]*part `yaml:"types"`
	}
	for _, test := range []struct{ name, content, want string }{
		{"nothing", "", ""},
		{"right", "name: x\ntypes: {a: {price: 1.5, count: 2, on: true}}", ""},
		{"a typing error", "types:\n  a:\n    prise: 1", `f.yaml:3: unknown key "prise"; did you mean "price"?`},
		{"nothing near", "else: 1", `f.yaml:1: unknown key "else"; known: list, name, types`},
		{"no number", "types: {a: {price: much}}", `f.yaml:1: "much" is not a number`},
		{"no whole number", "types: {a: {count: some}}", `f.yaml:1: "some" is not a whole number`},
		{"neither true nor false", "types: {a: {on: perhaps}}", `f.yaml:1: "perhaps" is not true or false`},
		{"no list", "list: one", `f.yaml:1: "one" is not a list`},
		{"no mapping", "types: [a]", `f.yaml:1: a list is not a mapping`},
		{"two problems", "nam: x\nlists: []", "f.yaml:1: unknown key \"nam\"; did you mean \"name\"?\nf.yaml:2: unknown key \"lists\"; did you mean \"list\"?"},
		{"twice", "name: a\nname: b", `f.yaml:2: "name" is set a second time; the first time is line 1`},
		{"no YAML", "name: [", "f.yaml:1: did not find expected node content"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := Decode("f.yaml", []byte(test.content), &file{}); err != nil {
				got = err.Error()
			}
			if got != test.want || strings.Contains(got, "strictyaml") {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}
