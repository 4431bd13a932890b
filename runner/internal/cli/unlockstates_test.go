package cli_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestUnlockBesideBrokenStates: a state that cannot be read keeps no lock in place. `unlock` sent to `repair`, which
// sends to `unlock`.
func TestUnlockBesideBrokenStates(t *testing.T) {
	t.Parallel()
	const held = `{"user":"ann","host":"elsewhere","boot":"abc","pid":7,"operation":"up","run":"r1","since":"2026-11-01T00:00:00Z"}`
	const pulumis = `{"pid":7,"username":"ann","hostname":"elsewhere","timestamp":"2026-11-01T00:00:00Z"}`
	for name, test := range map[string]struct {
		state  string
		locks  bool
		args   string
		code   int
		stdout string
		stderr []string
	}{
		"cut off":           {`{"version":3,"check`, true, "unlock -s dev --force --yes", cmd.ExitDone, "unlocked certmgr\nunlocked the environment\n", []string{"runner repair -s dev"}},
		"of a newer Pulumi": {`{"version":99}`, true, "unlock -s dev --force --yes", cmd.ExitDone, "unlocked certmgr\nunlocked the environment\n", []string{"the state of certmgr in the stack dev: it has version 99"}},
		"without --force":   {`{"version":3,"check`, true, "unlock -s dev --yes", cmd.ExitLocked, "", []string{"runner unlock -s dev --force"}},
		"nothing is locked": {`{"version":3,"check`, false, "unlock -s dev --force --yes", cmd.ExitConfig, "", []string{"runner repair -s dev"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
			own := layout.Of(root, false)
			cmdtest.WriteFile(t, own.State().Stack("certmgr", "dev"), test.state)
			locks := []string{own.Lock("kind", "dev"), own.State().Locks() + "/certmgr/dev/a.json"}
			if test.locks {
				cmdtest.WriteFile(t, locks[0], held)
				cmdtest.WriteFile(t, locks[1], pulumis)
			}
			i := cmdtest.NewInstalled(t)
			i.Write("stacks.json.fail", "error: it cannot be read\n")
			d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
			if code := wire.Run(context.Background(), d, strings.Fields(test.args)); code != test.code || stdout.String() != test.stdout {
				t.Fatalf("exit code %d, %s%s", code, stdout, stderr)
			}
			for _, want := range test.stderr {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr lacks %q: %s", want, stderr)
				}
			}
			for _, file := range locks {
				if _, err := os.Stat(file); (err == nil) != (test.locks && test.code != cmd.ExitDone) {
					t.Errorf("%s: %v", file, err)
				}
			}
		})
	}
}
