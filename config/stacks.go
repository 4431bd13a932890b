package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// StackOfFile returns the stack that a file is named after, as Pulumi.dev.yaml is. Pulumi would refuse some of the names:
// see CheckStackName.
func StackOfFile(entry fs.DirEntry) (stack string, ok bool) {
	name, isYAML := strings.CutSuffix(entry.Name(), ".yaml")
	stack, isStack := strings.CutPrefix(name, "Pulumi.")
	return stack, isYAML && isStack && !entry.IsDir()
}

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
		if name, ok := StackOfFile(entry); ok && CheckStackName(name) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, Join(errs...)
}
