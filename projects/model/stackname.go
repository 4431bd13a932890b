package model

import (
	"strings"
)

// StackPlaceholder stands for the name of the environment in the pattern of the
// names that a project's stacks have.
const StackPlaceholder = "{stack}"

// StackNames are the patterns of the projects whose stacks have names of their
// own, by project. The stacks of all others have the name of their environment.
type StackNames map[string]string

// StackNamesOf returns the patterns of projects.
func StackNamesOf(all []Project) StackNames {
	names := StackNames{}
	for _, project := range all {
		if project.Own != nil && project.Own.Stack != "" {
			names[project.Name] = project.Own.Stack
		}
	}
	return names
}

// Of returns the name of a project's stack in an environment.
func (n StackNames) Of(project, environment string) string {
	pattern, ok := n[project]
	if !ok {
		return environment
	}
	return strings.Replace(pattern, StackPlaceholder, environment, 1)
}

// Environment returns the environment that a project's stack belongs to; ok is false for a
// stack that does not follow the project's pattern.
func (n StackNames) Environment(project, stack string) (environment string, ok bool) {
	pattern, ok := n[project]
	if !ok {
		return stack, true
	}
	before, after, _ := strings.Cut(pattern, StackPlaceholder)
	rest, begins := strings.CutPrefix(stack, before)
	environment, ends := strings.CutSuffix(rest, after)
	return environment, begins && ends && environment != ""
}
