package operations

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/operate"
)

// TestCarriedFlags: the flags of a run appear in the commands that are proposed after it.
func TestCarriedFlags(t *testing.T) {
	t.Parallel()
	var carried operate.Carried
	app := &cli.App{
		HideHelp: true, // the library shares its flag among tests
		Flags:    OperateFlags([]string{"max-monthly", "unknown-costs", "policy-pack", "allow"}),
		Action: func(c *cli.Context) error {
			c.Command.Flags = c.App.Flags
			carried = parseCarried(c)
			return nil
		},
	}
	err := app.Run([]string{
		"runner", "-p", "linode", "--only", "a", "--only", "x", "--max-monthly", "12.5", "--config", "lke:region=it's here",
		"--root", "my root", "--allow", "dev",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := operate.Carried{
		Where: []string{"--root 'my root'"}, Provider: []string{"--provider linode"}, Selection: []string{"--only a", "--only x"},
		Values: []string{`--config 'lke:region=it'\''s here'`}, Gates: []string{"--max-monthly 12.5"},
		Allowed: []string{"--allow dev"},
	}
	if diff := cmp.Diff(want, carried); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseTargets(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--target a --replace b":                   "",
		"--target a --target-dependents --refresh": "",
		"--refresh --only x":                       "",
		"--target-dependents":                      "--target-dependents needs --target",
		"--target=":                                "--target and --replace: a URN or a name is empty",
		"--replace a --only x":                     "--target and --replace choose the project of the resource; omit --only x",
		"--target a --resume":                      "--target and --replace choose the project of the resource; omit --resume",
		"--refresh --save-plan x":                  "--save-plan is about whole projects, as they are in the state; omit --target, --replace and --refresh",
		"--target a --plan x --target b":           "--plan is about whole projects, as they are in the state; omit --target, --replace and --refresh",
	} {
		app := &cli.App{
			HideHelp: true,
			Flags:    OperateFlags([]string{"target", "target-dependents", "replace", "refresh", "plan", "save-plan"}),
			Action: func(c *cli.Context) error {
				r := operate.Request{Execution: operate.Execution{Refresh: c.Bool("refresh")}}
				r.Selection = cmd.ParseSelection(c)
				r.Rest.Resume = c.Bool("resume")
				_, err := parseTargets(c, r)
				return err
			},
		}
		got := ""
		if err := app.Run(append([]string{"runner"}, strings.Fields(args)...)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}

func TestParseTimeout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]operate.Timeout{
		"30m":        {Limit: 30 * time.Minute},
		"eks=1h":     {Term: "eks", Limit: time.Hour},
		"+eks=90s":   {Term: "+eks", Limit: 90 * time.Second},
		"a b=1500ms": {Term: "a b", Limit: 1500 * time.Millisecond},
	} {
		if got, err := parseTimeout(text); got != want || err != nil {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "soon", "0s", "-1s", "=1m", "eks=", "eks=0s", "30"} {
		if got, err := parseTimeout(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}
