package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestUnreadableIsNotEmpty: commands that look at states end with an error where these
// cannot be read. They printed "no results" and "no findings", with exit code 0.
func TestUnreadableIsNotEmpty(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	cmdtest.WriteFile(t, filepath.Join(root, "policies", "policies.yaml"), "use: [latest-tags]\n")
	stacks := layout.Of(root, false).State().Stacks()
	// A file in the place of the directory cannot be listed, even by root.
	if err := os.RemoveAll(stacks); err != nil {
		t.Fatal(err)
	}
	cmdtest.WriteFile(t, stacks, "")
	for _, args := range []string{"query types --exit-code", "query types -s dev", "policy check", "policy check -o sarif", "status -s dev", "outputs -s dev"} {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, cmdtest.NewInstalled(t))
		code := wire.Run(context.Background(), d, strings.Fields(args))
		if code != cmd.ExitConfig && code != cmd.ExitFailed || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, %s%s", args, code, stdout, stderr)
		}
	}
}

// TestIncompleteQuery: an environment whose configuration is broken may have its states
// in any backend. The others are shown, and the command fails.
func TestIncompleteQuery(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	cmdtest.WriteFile(t, filepath.Join(root, "policies", "policies.yaml"), "use: [latest-tags]\n")
	cmdtest.WriteFile(t, filepath.Join(root, config.EnvironmentsDir, "torn.yaml"), "values: [\n")
	for args, want := range map[string]struct {
		code   int
		stdout string
	}{
		"query charts":         {cmd.ExitConfig, "dev/certmgr, prod/certmgr\n"},
		"query charts -s dev":  {cmd.ExitDone, "dev/certmgr\n"},
		"policy check":         {cmd.ExitConfig, "no findings in the states that could be read\n"},
		"policy check -s prod": {cmd.ExitDone, "no findings\n"},
		"stacks":               {cmd.ExitDone, "prod"},
	} {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, cmdtest.NewInstalled(t))
		code := wire.Run(context.Background(), d, strings.Fields(args))
		if code != want.code || !strings.Contains(stdout.String(), want.stdout) {
			t.Errorf("%s: exit code %d, %s%s", args, code, stdout, stderr)
		}
		if warned := strings.Contains(stderr.String(), "torn: "); warned != !strings.Contains(args, "-s") {
			t.Errorf("%s: stderr: %s", args, stderr)
		}
	}
}
