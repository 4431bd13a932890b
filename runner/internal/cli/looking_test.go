package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestLookingKeepsNoSalt: in a fresh checkout on a shared backend a wrong
// passphrase is wrong, also for a command that only looks, and nothing is
// written that an up with the right one would stumble over.
func TestLookingKeepsNoSalt(t *testing.T) {
	t.Parallel()
	key, err := encryption.NewKey("right")
	if err != nil {
		t.Fatal(err)
	}
	for passphrase, want := range map[string]int{"right": cmd.ExitDone, "wrong": cmd.ExitConfig} {
		t.Run(passphrase, func(t *testing.T) {
			t.Parallel()
			root := cmdtest.Root(t, map[string]string{
				"environment":     "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=" + passphrase + "\n",
				"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n",
			})
			directory := layout.Of(root, false)
			state := fmt.Sprintf(`{"checkpoint":{"latest":{"secrets_providers":{"type":"passphrase","state":{"salt":%q}}}}}`, key.Salt())
			cmdtest.WriteFile(t, directory.State().Stack("certmgr", "dev"), state)
			i := cmdtest.NewInstalled(t)
			i.Stacks(map[string]int{"certmgr": 1})
			d, _, stderr := cmdtest.InstalledDeps(t, root, i)
			if code := wire.Run(context.Background(), d, []string{"outputs"}); code != want {
				t.Errorf("exit code %d, want %d: %s", code, want, stderr)
			}
			if want != cmd.ExitDone && !strings.Contains(stderr.String(), "the deployed state was encrypted with another one") {
				t.Errorf("stderr: %s", stderr)
			}
			if _, err := os.Stat(directory.Salt("dev")); err == nil {
				t.Error("a look has kept a salt")
			}
		})
	}
}

// TestPlainPulumiLeavesWorkingCopies of a run that goes on beside it.
func TestPlainPulumiLeavesWorkingCopies(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	copied := filepath.Join(layout.Of(root, true).Work(), "run-1@kind-dev", "certmgr", "Pulumi.yaml")
	cmdtest.WriteFile(t, copied, "name: certmgr\n")
	i := cmdtest.NewInstalled(t)
	d, _, stderr := cmdtest.InstalledDeps(t, root, i)
	if code := wire.Run(context.Background(), d, strings.Fields("pulumi certmgr -s dev --simulate -- stack output")); code != cmd.ExitDone {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if _, err := os.Stat(copied); err != nil {
		t.Errorf("the working copy of another run is gone: %v", err)
	}
}
