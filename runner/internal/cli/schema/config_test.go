package schema_test

import (
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/cli/schema"
)

// TestStackFilesAreValid: the example, also with every key set to what it shows.
func TestStackFilesAreValid(t *testing.T) {
	t.Parallel()
	s := compile(t, schema.Config)
	example, err := os.ReadFile("../../../../config/pulumi/Pulumi.stackname.yaml.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := validateYAML(t, s, string(example)); err != nil {
		t.Error(err)
	}
	file, err := config.ParseStack("example", example)
	if err != nil {
		t.Fatal(err)
	}
	var changes []config.Change
	for _, key := range providers.Keys() {
		value, err := key.Parse(key.Example)
		if err != nil {
			t.Fatalf("the example of %s: %v", key.Name, err)
		}
		changes = append(changes, config.Change{Key: key.Name, Value: value})
	}
	full, err := file.Edit(changes...)
	if err != nil {
		t.Fatal(err)
	}
	if err := validateYAML(t, s, string(full)); err != nil {
		t.Error(err)
	}
}

func TestStackSchema(t *testing.T) {
	t.Parallel()
	s := compile(t, schema.Config)
	for _, text := range []string{
		"", "# nothing yet\n", "config:\n", "encryptionsalt: v1:x\nconfig: {}\n",
		"config: {kubernetes:infra_type: kind, aws:defaultTags: {tags: {a: b}}, myapp:size: 3}",
		"config: {eks:min_size: '3', eks:k8s_version: '1.30', eks:encrypt_secrets: 'true', vpc:azs: [us-east-1a, us-east-1b]}",
		"config: {eks:k8s_version: {secure: v1:x}, eks:min_size: }",
	} {
		if err := validateYAML(t, s, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"config: {kubernetes:infra_type: gke}", "config: {kubernetes:infra_type: }",
		"config: {eks:min_szie: 3}", "config: {eks:min_size: 0}", "config: {eks:min_size: many}", "config: {eks:k8s_version: 1.30}",
		"config: {vpc:azs: a}", "config: {eks:encrypt_secrets: maybe}", "config: {nginx:values: 1}", "config: {region: x}",
		"config: []", "confg: {}", "kubernetes:infra_type: kind",
	} {
		if validateYAML(t, s, text) == nil {
			t.Errorf("%s: valid", text)
		}
	}
}

func validateYAML(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}
