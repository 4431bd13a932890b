package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/typeset"
)

func TestFitHelp(t *testing.T) {
	t.Parallel()
	const text = `Create or update everything.

Usage: runner up [flags]
Also:  runner apply

Runs the projects of the plan, each as soon as what it needs has succeeded, and then
stops.
One more line.

Examples:
  runner up -s dev --only +prometheus --retry 2

Flags:
      --only PROJECTS  run these PROJECTS only, separated by commas
  -y, --yes            do it
`
	tests := map[int]string{
		0: text,
		60: `Create or update everything.

Usage: runner up [flags]
Also:  runner apply

Runs the projects of the plan, each as soon as what it needs
has succeeded, and then stops.
One more line.

Examples:
  runner up -s dev --only +prometheus --retry 2

Flags:
      --only PROJECTS  run these PROJECTS only, separated by
                       commas
  -y, --yes            do it
`,
		40: `Create or update everything.

Usage: runner up [flags]
Also:  runner apply

Runs the projects of the plan, each as
soon as what it needs has succeeded, and
then stops.
One more line.

Examples:
  runner up -s dev --only +prometheus --retry 2

Flags:
      --only PROJECTS
        run these PROJECTS only,
        separated by commas
  -y, --yes
        do it
`,
	}
	for width, want := range tests {
		if diff := cmp.Diff(want, fitHelp(text, width)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
}

// TestHelpFitsEveryCommand: on a terminal the help of every command says the same
// in its width, but for examples.
func TestHelpFitsEveryCommand(t *testing.T) {
	t.Parallel()
	d, _, _ := testDeps(t)
	all := commands(d)
	for _, leaf := range leaves("", all) {
		text := helpText(all, leaf.command, leaf.path)
		for _, width := range []int{60, 80, 120} {
			got := fitHelp(text, width)
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
