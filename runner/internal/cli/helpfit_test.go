package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/help"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestHelpFitsEveryCommand: on a terminal the help of every command says the same
// in its width, but for examples.
func TestHelpFitsEveryCommand(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	for _, leaf := range leaves("", commands(d)) {
		text := help.Text(wire.Commands(d), leaf.command, leaf.path, true)
		for _, width := range []int{60, 80, 120} {
			got := help.Fit(text, width)
			if diff := cmp.Diff(strings.Fields(text), strings.Fields(got)); diff != "" {
				t.Errorf("%s at %d: %s", leaf.path, width, diff)
			}
			for line := range strings.Lines(got) {
				if line = strings.TrimSuffix(line, "\n"); typeset.Cells(line) > width && !strings.Contains(line, "runner ") {
					t.Errorf("%s: %d cells at %d: %s", leaf.path, typeset.Cells(line), width, line)
				}
			}
		}
	}
}
