package operations

import (
	"errors"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/machine/failure"
)

// TestPlanFlags: an empty value, as of a variable that is not set, does not do without the gate.
func TestPlanFlags(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0f", 32)
	for _, test := range []struct {
		args []string
		held bool
		want string // of the error
	}{
		{nil, false, ""},
		{[]string{"--plan", "p.json"}, true, ""},
		{[]string{"--plan", "p.json", "--plan-digest", digest}, true, ""},
		{[]string{"--plan", ""}, false, "--plan: the name of the file is empty"},
		{[]string{"--plan", "p.json", "--plan-digest", ""}, false, `--plan-digest: "" is not sha256:`},
		{[]string{"--plan", "p.json", "--plan-digest", digest[:20]}, false, "is not sha256:"},
		{[]string{"--plan-digest", digest}, false, "--plan-digest needs --plan"},
	} {
		app := &cli.App{HideHelp: true, Flags: FlagsOf("plan", "plan-digest"), Action: func(c *cli.Context) error {
			c.Command.Flags = c.App.Flags
			held, err := checkPlanFlags(c)
			if held != test.held || (err == nil) != (test.want == "") || err != nil &&
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("%v: %v, %v", test.args, held, err)
			}
			return nil
		}}
		if err := app.Run(append([]string{"runner"}, test.args...)); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckDigest(t *testing.T) {
	t.Parallel()
	var refused *failure.Environment
	if err := checkDigest("p.json", "sha256:aa", "sha256:bb"); !errors.As(err, &refused) ||
		!strings.Contains(refused.Text, "sha256:bb, not sha256:aa") {
		t.Errorf("another plan: %v", err)
	}
	if err := errors.Join(
		checkDigest("p.json", "sha256:aa", "sha256:aa"), checkDigest("p.json", "", "sha256:aa"),
	); err != nil {
		t.Error(err)
	}
}
