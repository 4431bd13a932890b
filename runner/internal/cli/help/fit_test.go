package help

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		0: strings.Replace(text, "then\nstops", "then stops", 1),
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
		if diff := cmp.Diff(want, Fit(text, width)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
}
