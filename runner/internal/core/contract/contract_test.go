package contract_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/contract"
)

// write makes a project of files, and returns its directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const program = `variables:
  all: ${network.outputs}
  alias: ${all}
  loop: ${loop}
  old:
    fn::stackReference: [acme/legacy/dev, address]
resources:
  network:
    type: pulumi:pulumi:StackReference
    properties:
      name: ${pulumi.organization}/network/${pulumi.stack}
  named:
    type: pulumi:pulumi:StackReference
    properties: {name: "${stackOfDatabase}"}
  thing:
    type: a:b:C
    properties:
      one: x ${network.outputs["domain"]} and ${network.outputs.range[0]}
      two: [{three: "${alias[\"deep.name\"].more}"}]
      four: $${network.outputs.escaped} ${thing.outputs.none} ${network.id} ${loop.outputs.x} ${broken
outputs:
  url: https://${named.outputs["address"]}/
  same: ${network.outputs["domain"]}
`

func TestReadProgram(t *testing.T) {
	t.Parallel()
	at := func(line int) contract.Place { return contract.Place{File: "shop/Main.yaml", Line: line} }
	const network = "${pulumi.organization}/network/${pulumi.stack}"
	want := contract.Program{
		Exports: contract.Exports{Place: at(21), Names: []string{"same", "url"}},
		Reads: []contract.Read{
			{Place: at(6), Stack: "acme/legacy/dev", Output: "address"},
			{Place: at(18), Stack: network, Output: "domain"},
			{Place: at(18), Stack: network, Output: "range"},
			{Place: at(19), Stack: network, Output: "deep.name"},
			{Place: at(22), Stack: "${stackOfDatabase}", Output: "address"},
			{Place: at(23), Stack: network, Output: "domain"},
		},
	}
	got, ok := contract.ReadProgram(write(t, map[string]string{"Pulumi.yaml": "name: shop\nruntime: yaml\n", "Main.yaml": program}), "shop")
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Error(ok, diff)
	}
}

func TestWherePrograms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string // the first output, with its place
	}{
		{"in Pulumi.yaml", map[string]string{"Pulumi.yaml": "name: a\nruntime: {name: yaml}\noutputs:\n  x: 1\n"}, "p/Pulumi.yaml:3 x"},
		{"in JSON, in a directory", map[string]string{"Pulumi.yaml": "name: a\nruntime: yaml\nmain: src\n", "src/Main.json": "{\n\"outputs\": {\n\"y\": 1}}", "src/Main.yaml": "outputs: {z: 1}"},
			"p/src/Main.json:2 y"},
		{"no outputs", map[string]string{"Pulumi.yaml": "name: a\nruntime: yaml\n", "Main.yaml": "resources: {}\n"}, "p/Main.yaml"},
		{"another runtime", map[string]string{"Pulumi.yaml": "name: a\nruntime: go\n", "Main.yaml": "outputs: {z: 1}"}, ""},
		{"made by a compiler", map[string]string{"Pulumi.yaml": "name: a\nruntime: {name: yaml, options: {compiler: cue export}}\n", "Main.yaml": "outputs: {z: 1}"}, ""},
		{"broken", map[string]string{"Pulumi.yaml": "name: a\nruntime: yaml\n", "Main.yaml": "outputs: {z: 1"}, ""},
		{"nothing", nil, ""},
	} {
		got, ok := contract.ReadProgram(write(t, test.files), "p")
		text := ""
		if ok {
			text = got.Exports.String()
			for _, name := range got.Exports.Names {
				text += " " + name
			}
		}
		if text != test.want {
			t.Errorf("%s: got %q, want %q", test.name, text, test.want)
		}
	}
}

func TestStackName(t *testing.T) {
	t.Parallel()
	values := map[string]string{"pulumi.organization": "acme", "pulumi.stack": "dev"}
	for template, want := range map[string]string{
		"${pulumi.organization}/network/${pulumi.stack}": "acme/network/dev",
		"acme/network/$${pulumi.stack}":                  "acme/network/${pulumi.stack}",
		"${other}":                                       "",
	} {
		if got, ok := contract.StackName(template, values); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %t", template, got, ok)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	exports := contract.Exports{Place: contract.Place{File: "network/Main.yaml", Line: 1}, Names: []string{"domains", "range"}}
	reads := []contract.Read{
		{Place: contract.Place{File: "shop/Main.yaml", Line: 11}, Output: "domain"},
		{Place: contract.Place{File: "shop/Main.yaml", Line: 12}, Output: "range"},
	}
	for _, test := range []struct {
		exports contract.Exports
		want    []string
	}{
		{exports, []string{`shop/Main.yaml:11 reads output "domain" of network, which exports domains, range (network/Main.yaml:1); did you mean "domains"?`}},
		{contract.Exports{Names: []string{"domain", "range"}}, nil},
		{contract.Exports{}, []string{
			`shop/Main.yaml:11 reads output "domain" of network, which exports no outputs`, `shop/Main.yaml:12 reads output "range" of network, which exports no outputs`,
		}},
	} {
		var got []string
		for _, missing := range contract.Check("network", reads, test.exports) {
			got = append(got, missing.String())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(diff)
		}
	}
	at := contract.Place{File: "mara.yaml", Line: 3}
	if got, want := contract.Undeclared([]string{"range", "domain"}, at, exports),
		`mara.yaml:3 lists the output domain, but the program exports domains, range (network/Main.yaml:1); did you mean "domains"?`; got != want {
		t.Errorf("got %q", got)
	}
	if got := contract.Undeclared([]string{"range"}, at, exports); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestOptionalOutputs: an output that may be there or not is not missing.
func TestOptionalOutputs(t *testing.T) {
	t.Parallel()
	reads := []contract.Read{{Output: "always"}, {Output: "sometimes"}, {Output: "never"}}
	missing := contract.Check("owner", reads, contract.Exports{Names: []string{"always"}, Optional: []string{"sometimes"}})
	if len(missing) != 1 || missing[0].Output != "never" {
		t.Errorf("%v", missing)
	}
}
