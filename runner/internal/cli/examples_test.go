package cli_test

import (
	"regexp"
	"testing"

	"mara/runner/internal/testing/cmdtest"
)

// TestEveryCommandHasThreeExamples, that begin with it.
func TestEveryCommandHasThreeExamples(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	const least = 3
	for _, leaf := range leaves("", commands(d)) {
		if leaf.path == "fleet check" {
			continue // it is check, with its examples
		}
		example := regexp.MustCompile(`(?m)^  .*\brunner ` + regexp.QuoteMeta(leaf.path) + `\b`)
		if found := example.FindAllString(leaf.command.Description, -1); len(found) < least {
			t.Errorf("runner %s has %d examples, and not %d", leaf.path, len(found), least)
		}
	}
}
