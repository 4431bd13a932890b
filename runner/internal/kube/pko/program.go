package pko

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// ReadProgram reads a project in Pulumi YAML as the content of a Program. The error names
// what a Program cannot contain.
func ReadProgram(dir string) (map[string]any, error) {
	program := map[string]any{}
	for _, file := range []string{"Pulumi.yaml", "Main.yaml"} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var document map[string]any
		if err := yaml.Unmarshal(content, &document); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, key := range slices.Sorted(maps.Keys(document)) {
			if err := take(program, key, document[key]); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return program, nil
}

// take copies a section to a program.
func take(program map[string]any, key string, value any) error {
	switch key {
	case "name", "runtime", "description", "author", "license", "website", "stackConfigDir", "template":
		return nil
	case "resources", "variables", "outputs", "packages":
		program[key] = value
		return nil
	case "config", "configuration":
		configuration, err := configurationOf(value)
		if len(configuration) > 0 {
			program["configuration"] = configuration
		}
		return err
	}
	return fmt.Errorf("a Program has no %s", key)
}

// configurationOf converts declarations of configuration. The operator has fewer types.
func configurationOf(value any) (map[string]any, error) {
	declared, _ := value.(map[string]any)
	types := map[string]string{"": "String", "string": "String", "integer": "Number", "number": "Number",
		"String": "String", "Number": "Number"}
	configuration := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		one, _ := declared[name].(map[string]any)
		kind, _ := one["type"].(string)
		translated, ok := types[kind]
		if !ok {
			return nil, fmt.Errorf("the configuration %s has the type %s, which a Program cannot declare", name, kind)
		}
		if one["secret"] == true {
			return nil, fmt.Errorf("the configuration %s is secret, which a Program cannot declare", name)
		}
		entry := map[string]any{"type": translated}
		if standard, ok := one["default"]; ok {
			entry["default"] = standard
		}
		_, short, ok := strings.Cut(name, ":")
		if !ok {
			short = name
		}
		configuration[short] = entry
	}
	return configuration, nil
}
