package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestFoldedHelp: the help of a command names the common flags, and --help-all explains them.
func TestFoldedHelp(t *testing.T) {
	t.Parallel()
	for flag, explains := range map[string]bool{"--help": false, "--help-all": true} {
		d, stdout, _ := cmdtest.Deps(t)
		if code := wire.Run(context.Background(), d, []string{"up", flag}); code != cmd.ExitDone {
			t.Fatalf("up %s: exit code %d", flag, code)
		}
		got := stdout.String()
		if strings.Contains(got, "disable colour") != explains || strings.Contains(got, "`runner up --help-all` explains") == explains {
			t.Errorf("up %s:\n%s", flag, got)
		}
		if !strings.Contains(got, "run all projects, also unchanged ones") {
			t.Errorf("up %s does not explain its own flags", flag)
		}
	}
}

// TestSimulatedRunsAreMentioned: where all runs were simulated, the commands about runs say so.
func TestSimulatedRunsAreMentioned(t *testing.T) {
	t.Parallel()
	d, stdout, stderr := cmdtest.Deps(t)
	run := filepath.Join(d.Dir, ".runner", "simulated", "runs", "20261120-190102-123abc")
	for _, dir := range []string{run, filepath.Join(d.Dir, "config", "pulumi")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for command, code := range map[string]int{"history": cmd.ExitDone, "show": cmd.ExitUsage, "logs": cmd.ExitUsage, "report": cmd.ExitUsage} {
		stdout.Reset()
		stderr.Reset()
		if got := wire.Run(context.Background(), d, []string{command}); got != code {
			t.Errorf("%s: exit code %d, want %d: %s", command, got, code, stderr)
		}
		if said := stdout.String() + stderr.String(); !strings.Contains(said, "1 run here is simulated: add --simulate") {
			t.Errorf("%s says %q", command, said)
		}
	}
}
