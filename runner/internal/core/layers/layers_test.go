package layers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
	"mara/runner/internal/core/layers"
)

// write makes a root with these files: "environments/dev" is
// config/environments/dev.yaml.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, "config", name+".yaml")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// lines renders entries with their places.
func lines(d config.Description) []string {
	var out []string
	for _, e := range d.Entries {
		line := fmt.Sprintf("%s = %T %s at %s:%d", e.Key, e.Value, config.Show(e.Value), e.File, e.Line)
		for _, over := range e.Over {
			line += fmt.Sprintf(" over %s at %s:%d", config.Show(over.Value), over.File, over.Line)
		}
		out = append(out, strings.ReplaceAll(strings.ReplaceAll(line, "config/layers/", "l/"), "config/environments/", "e/"))
	}
	return out
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"nothing", map[string]string{"layers/base": "values: {pulumiConfig: {\"a:b\": 1}}\n"}, nil},
		{"empty", map[string]string{"environments/dev": "# nothing\n"}, nil},
		{"own values", map[string]string{"environments/dev": "values:\n  pulumiConfig:\n    a:b: x\n    a:c: 3\n    a:d: true\n"}, []string{
			"a:b = string x at e/dev.yaml:3", "a:c = int 3 at e/dev.yaml:4", "a:d = bool true at e/dev.yaml:5",
		}},
		{"a version keeps its text", map[string]string{"environments/dev": "values:\n  pulumiConfig:\n    a:b: 1.30\n    a:c: {d: 1.10}\n"}, []string{
			"a:b = string 1.30 at e/dev.yaml:3", `a:c = map[string]interface {} {d: "1.10"} at e/dev.yaml:4`,
		}},
		{"imports from left to right, each after its own", map[string]string{
			"layers/base": "values: {pulumiConfig: {\"a:b\": base, \"a:c\": base}}\n", "layers/stage/prod": "imports: [base]\nvalues: {pulumiConfig: {\"a:b\": prod}}\n",
			"layers/region": "values: {pulumiConfig: {\"a:b\": region}}\n", "environments/dev": "imports: [stage/prod, region]\n",
		}, []string{
			"a:b = string region at l/region.yaml:1 over prod at l/stage/prod.yaml:2 over base at l/base.yaml:1",
			"a:c = string base at l/base.yaml:1",
		}},
		{"maps are merged, lists replaced", map[string]string{
			"layers/base": "values: {pulumiConfig: {\"a:m\": {x: 1, v: 2, z: 3}, \"a:l\": [1, 2]}}\n", "environments/dev": "imports: [base]\nvalues: {pulumiConfig: {\"a:m\": {v: 5, z: null}, \"a:l\": [3]}}\n",
		}, []string{
			"a:l = []interface {} [3] at e/dev.yaml:2 over [1, 2] at l/base.yaml:1",
			"a:m = map[string]interface {} {v: 5, x: 1} at e/dev.yaml:2 over {v: 2, x: 1, z: 3} at l/base.yaml:1",
		}},
		{"null takes away", map[string]string{
			"layers/base": "values: {pulumiConfig: {\"a:b\": base}}\n", "environments/dev": "imports: [base]\nvalues: {pulumiConfig: {\"a:b\": null}}\n",
		}, nil},
		{"values refer to others", map[string]string{"environments/dev": "values:\n  region: eu\n  pulumiConfig:\n    a:b: ${region}-1\n"}, []string{"a:b = string eu-1 at e/dev.yaml:4"}},
		{"ciphertext stays", map[string]string{"environments/dev": "values:\n  pulumiConfig:\n    a:b: {secure: v1:abc}\n"}, []string{"a:b = config.Ciphertext [secret] at e/dev.yaml:3"}},
		{"ciphertext of ESC", map[string]string{"environments/dev": "values:\n  pulumiConfig:\n    a:b: {\"fn::secret\": {ciphertext: ZXNjeAAAAAF2MTphYmM6ZGVmR7qpQw==}}\n"}, []string{"a:b = config.Ciphertext [secret] at e/dev.yaml:3"}},
		{"the runner's settings", map[string]string{"environments/dev": "values:\n  runner:\n    provider: kind\n    protected: true\n    ttl: 8h\n"}, []string{
			"kubernetes:infra_type = string kind at e/dev.yaml:3", "runner:protect = bool true at e/dev.yaml:4", "runner:ttl = string 8h at e/dev.yaml:5",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d, err := layers.Read(write(t, test.files), "dev")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, lines(d)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadOfTheRunner(t *testing.T) {
	t.Parallel()
	d, err := layers.Read(write(t, map[string]string{
		"layers/prod":      "values: {runner: {labels: {stage: prod, wave: \"1\"}}}\n",
		"environments/dev": "imports: [prod]\nvalues:\n  runner:\n    labels: {region: eu, wave: null}\n    backend: s3://acme/state\n    projects: {skip: [logstore]}\n",
	}), "dev")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Labels) != 2 || d.Labels["stage"].Text != "prod" || d.Labels["region"].Origin.Line != 4 {
		t.Errorf("labels %+v", d.Labels)
	}
	if d.Backend.Text != "s3://acme/state" || d.Backend.Origin.String() != "runner.backend in config/environments/dev.yaml:5" {
		t.Errorf("backend %+v", d.Backend)
	}
	if len(d.Skip) != 1 || d.Skip[0].Text != "logstore" || cmp.Diff(d.Layers, []string{"config/layers/prod.yaml"}) != "" {
		t.Errorf("skip %+v, layers %v", d.Skip, d.Layers)
	}
}

// TestWrongLayers: each mistake is one error, with file and line.
func TestWrongLayers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"cycle", map[string]string{"layers/a": "imports: [b]\n", "layers/b": "imports:\n  - a\n", "environments/dev": "imports: [a]\n"},
			"config/layers/b.yaml:2: imports config/layers/a.yaml, which imports this file again: imports must not form a cycle"},
		{"missing import", map[string]string{"layers/stage/prod": "values: {x: 1}\n", "environments/dev": "imports:\n  - stage/prd\n"},
			`config/environments/dev.yaml:2: imports "stage/prd", but there is no file config/layers/stage/prd.yaml; did you mean "stage/prod"?`},
		{"import of another directory", map[string]string{"environments/dev": "imports: [../pulumi/x]\n"},
			`config/environments/dev.yaml:1: imports "../pulumi/x", which is not the name of a file below config/layers`},
		{"map replaced by a text", map[string]string{"layers/a": "values: {pulumiConfig: {\"a:m\": {x: 1}}}\n", "environments/dev": "imports: [a]\nvalues:\n  pulumiConfig:\n    a:m: text\n"},
			"config/environments/dev.yaml:4: a:m is a single value, and takes the place of a map in config/layers/a.yaml:1"},
		{"text replaced by a map", map[string]string{"layers/a": "values: {pulumiConfig: {\"a:m\": text}}\n", "environments/dev": "imports: [a]\nvalues:\n  pulumiConfig:\n    a:m: {x: 1}\n"},
			"config/environments/dev.yaml:4: a:m is a map, and takes the place of a single value in config/layers/a.yaml:1"},
		{"unknown setting", map[string]string{"environments/dev": "values:\n  runner:\n    protectd: true\n"},
			`config/environments/dev.yaml:3: runner.protectd is not known; there are: backend, labels, projects, protected, provider, ttl; did you mean "protected"?`},
		{"no backend", map[string]string{"environments/dev": "values:\n  runner: {backend: /state}\n"},
			"config/environments/dev.yaml:2: runner.backend is not the address of a backend such as file:///directory, s3://bucket or https://api.pulumi.com"},
		{"no label", map[string]string{"environments/dev": "values:\n  runner: {labels: {stage: a b}}\n"},
			"config/environments/dev.yaml:2: runner.labels.stage is not a label: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"},
		{"no duration", map[string]string{"environments/dev": "values: {runner: {ttl: 8}}\n"}, "config/environments/dev.yaml:1: runner.ttl must be a duration such as 8h or 30m"},
		{"two providers", map[string]string{"environments/dev": "values:\n  runner: {provider: kind}\n  pulumiConfig: {kubernetes:infra_type: aws}\n"},
			"config/environments/dev.yaml:2: runner.provider is kind, but kubernetes:infra_type in config/environments/dev.yaml:3 is aws"},
		{"no key", map[string]string{"environments/dev": "values: {pulumiConfig: {size: 1}}\n"}, "config/environments/dev.yaml:1: size is not a configuration key; write namespace:name"},
		{"secret in plain text", map[string]string{"environments/dev": "values:\n  pulumiConfig:\n    a:b: {\"fn::secret\": hunter2}\n"},
			"config/environments/dev.yaml:3: a:b is a secret in plain text; keep it with `runner secrets set`, or write its ciphertext as {secure: ...}"},
		{"a service", map[string]string{"environments/dev": "values:\n  x: {\"fn::open::aws-login\": {}}\n"},
			"config/environments/dev.yaml:2: fn::open::aws-login needs Pulumi's service, and layers are evaluated without it; write the value itself"},
		{"variables", map[string]string{"environments/dev": "values:\n  environmentVariables: {A: b}\n"},
			"config/environments/dev.yaml:2: values.environmentVariables is not used here; variables belong into config/pulumi/environment"},
		{"no YAML", map[string]string{"environments/dev": "values: [\n"}, "config/environments/dev.yaml:1: is not valid YAML: did not find expected node content"},
		{"unknown reference", map[string]string{"environments/dev": "values:\n  pulumiConfig:\n    a:b: ${nothing}\n"}, `config/environments/dev.yaml:3: unknown property "nothing"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := layers.Read(write(t, test.files), "dev")
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Error("the error shows the secret")
			}
		})
	}
}
