package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Stacks lists the stacks that have a stack file below the root.
func Stacks(root string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, Folder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, &Error{Problems: []Problem{{File: Folder, Text: reason(err)}}}
	}
	var names []string
	for _, entry := range entries {
		name, isYAML := strings.CutSuffix(entry.Name(), ".yaml")
		name, isStack := strings.CutPrefix(name, "Pulumi.")
		if isYAML && isStack && !entry.IsDir() && CheckStackName(name) == nil {
			names = append(names, name)
		}
	}
	return names, nil
}
