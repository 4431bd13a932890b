package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gopkg.in/yaml.v3"

	"mara/projects"
)

// Values is a tree of chart values. Leaves are plain Go values or Pulumi
// inputs.
type Values = map[string]any

// merge puts the second tree over the first: maps are merged, everything else
// is replaced, and null takes the first tree's value away.
func merge(base, over Values) Values {
	merged := maps.Clone(base)
	if merged == nil {
		merged = Values{}
	}
	for key, value := range over {
		below, isMap := merged[key].(Values)
		above, overIsMap := value.(Values)
		switch {
		case value == nil:
			delete(merged, key)
		case isMap && overIsMap:
			merged[key] = merge(below, above)
		case overIsMap:
			merged[key] = merge(nil, above)
		default:
			merged[key] = value
		}
	}
	return merged
}

// inputsOf turns a tree of values into what a Release takes.
func inputsOf(values Values) (pulumi.Map, error) {
	inputs := make(pulumi.Map, len(values))
	for key, value := range values {
		input, err := inputOf(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		inputs[key] = input
	}
	return inputs, nil
}

func inputOf(value any) (pulumi.Input, error) {
	switch typed := value.(type) {
	case pulumi.Input:
		return typed, nil
	case string:
		return pulumi.String(typed), nil
	case bool:
		return pulumi.Bool(typed), nil
	case int:
		return pulumi.Int(typed), nil
	case float64:
		return pulumi.Float64(typed), nil
	case Values:
		return inputsOf(typed)
	case []string:
		return pulumi.ToStringArray(typed), nil
	case []Values:
		return arrayOf(typed)
	case []any:
		return arrayOf(typed)
	}
	return nil, fmt.Errorf("a chart value cannot be a %T; quote it to make it text", value)
}

func arrayOf[T any](items []T) (pulumi.Array, error) {
	array := make(pulumi.Array, len(items))
	for i, item := range items {
		input, err := inputOf(item)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		array[i] = input
	}
	return array, nil
}

// readValues reads a user's file of chart values. A relative path starts at
// config/pulumi, the directory of the file that names it.
func readValues(projectDir, path string) (Values, error) {
	if !filepath.IsAbs(path) {
		dir, err := configDir(projectDir)
		if err != nil {
			return nil, err
		}
		path = filepath.Join(dir, path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading chart values: %w", err)
	}
	var values Values
	if err := yaml.Unmarshal(content, &values); err != nil {
		return nil, fmt.Errorf("reading chart values: %s: %w", path, err)
	}
	return values, nil
}

// start returns the directory in which to look for config/pulumi: the root, if the runner passed
// it, else the project's directory.
func start(ctx *pulumi.Context) string {
	if root, ok := ctx.Value(projects.RootKey{}).(string); ok {
		return root
	}
	return ctx.RootDirectory()
}

// configDir finds config/pulumi in the nearest directory upward that has it.
func configDir(start string) (string, error) {
	dir, err := filepath.Abs(start)
	if err != nil {
		return "", fmt.Errorf("looking for config/pulumi: %w", err)
	}
	for {
		candidate := filepath.Join(dir, "config", "pulumi")
		if info, err := os.Stat(candidate); err == nil && info.IsDir() {
			return candidate, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("looking for config/pulumi: %w", err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no directory config/pulumi in %s or above it: give an absolute path", start)
		}
		dir = parent
	}
}
