package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// conforms holds a text against a schema that the runner prints.
func (e *environment) conforms(name string, text []byte) {
	e.t.Helper()
	r := e.run("schema", name)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(r.stdout)))
	if err != nil || r.code != 0 {
		e.t.Fatalf("schema %s: exit code %d, %v %s", name, r.code, err, r.stderr)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, document); err != nil {
		e.t.Fatal(err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		e.t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		e.t.Fatal(err)
	}
	if err := compiled.Validate(value); err != nil {
		e.t.Errorf("%s: %v", name, err)
	}
}

// TestAnswersConform: a saved plan, what queries read and what policies find are
// as their schemas say.
func TestAnswersConform(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	const only = "kind-cluster,kubeconfig,logstore"
	e.simulate(0, "preview", "-p", "kind", "--only", only, "--save-plan", "plan.json")
	content, err := os.ReadFile(filepath.Join(e.root, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	e.conforms("saved-plan", content)
	e.simulate(0, "up", "-p", "kind", "--only", only)

	var documents []json.RawMessage
	r := e.run("query", ".", "--simulate", "-o", "json")
	if err := json.Unmarshal([]byte(r.stdout), &documents); err != nil || len(documents) != 1 || len(documents[0]) < 1000 {
		t.Fatalf("query: exit code %d, %v, %d documents\n%s", r.code, err, len(documents), r.stderr)
	}
	e.conforms("query", documents[0])

	e.write("policies/everything.jq", "# Everything is found.\ndef deny: resources(\".*\") | finding(\"found\");\n")
	r = e.run("policy", "check", "--simulate", "-o", "json")
	if r.code != 1 || len(r.stdout) < 200 {
		t.Fatalf("policy check: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.conforms("policy", []byte(r.stdout))
}
