package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// randomSchema is a part of that of the package random.
const randomSchema = `{
  "name": "random", "version": "4.16.0", "meta": {"moduleFormat": "(.*)(?:/[^/]*)"},
  "resources": {"random:index/randomPassword:RandomPassword": {
    "inputProperties": {"length": {"type": "integer", "willReplaceOnChanges": true}, "special": {"type": "boolean"}},
    "requiredInputs": ["length"],
    "properties": {"length": {"type": "integer"}, "special": {"type": "boolean"}, "result": {"type": "string", "secret": true}},
    "required": ["length", "result"]
  }}
}`

// TestPackageOfAnOwnProject simulates a package that is not built in: by a
// schema that the user names, and without one.
func TestPackageOfAnOwnProject(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: password\n")
	e.write("password/Pulumi.yaml", `name: password
runtime: yaml
resources:
  password:
    type: random:RandomPassword
    properties: {length: 16}
outputs:
  length: ${password.length}
  result: ${password.result}
`)
	e.write("random.json", randomSchema)
	schema := filepath.Join(e.root, "random.json")

	r := e.run("preview", "--simulate")
	for _, want := range []string{"password/Pulumi.yaml:5: random:RandomPassword", "`pulumi plugin install resource random`", "--simulate-schema"} {
		if r.code != 3 || !strings.Contains(r.stderr, want) {
			t.Errorf("a program in YAML without a schema: exit %d, want %q in %s", r.code, want, r.stderr)
		}
	}
	if texts := warnings(e.simulate(0, "up", "--simulate-schema", schema)); len(texts) > 0 {
		t.Errorf("with a schema: warned %q", texts)
	}
	if r := e.run("outputs", "--simulate", "password"); !strings.Contains(r.stdout, "length: 16") || !strings.Contains(r.stdout, "result: [secret]") {
		t.Errorf("outputs: %s%s", r.stdout, r.stderr)
	}
	e.simulate(0, "destroy", "--simulate-schema", schema)
}
