package operations

import (
	"errors"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
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

// TestMaxMonthly: a limit that no number exceeds is none.
func TestMaxMonthly(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"0": true, "12.5": true, "-1": false, "NaN": false, "Inf": false, "-Inf": false} {
		app := &cli.App{HideHelp: true, Flags: FlagsOf("max-monthly", "unknown-costs", "policy-pack"),
			Action: func(c *cli.Context) error {
				if _, err := parseGuards(c, cmd.Deps{}); (err == nil) != ok {
					t.Errorf("%s: %v", text, err)
				}
				return nil
			}}
		if err := app.Run([]string{"runner", "--max-monthly=" + text}); err != nil {
			t.Error(err)
		}
	}
}

// TestWeakens: no value for one run takes a guard of the environment away.
func TestWeakens(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key, value string
		want       bool
	}{
		{"runner:protect", "false", true}, {"runner:protect", "", true}, {"runner:protect", "no", true},
		{"runner:protect", "true", false}, {"runner:ttl", "1s", true}, {"runner:ttl", "", true}, {"app:size", "1", false},
	} {
		if got := weakens(test.key, test.value); got != test.want {
			t.Errorf("%s=%s: %t", test.key, test.value, got)
		}
	}
}
