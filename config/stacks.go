package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stacks lists the stacks that have a stack file or a description below the root.
func Stacks(root string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, Directory))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fileError(Directory, err)
	}
	names, err := Described(root)
	errs := []error{err}
	for _, entry := range entries {
		if p, ok := misnamed(Directory, entry); ok && strings.HasPrefix(entry.Name(), "Pulumi.") {
			errs = append(errs, &Error{Problems: []Problem{p}})
		}
		name, isYAML := strings.CutSuffix(entry.Name(), ".yaml")
		name, isStack := strings.CutPrefix(name, "Pulumi.")
		if isYAML && isStack && !entry.IsDir() && CheckStackName(name) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, Join(errs...)
}
