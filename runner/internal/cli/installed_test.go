package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
)

// aws returns a root with the stack dev on aws and a passphrase.
func aws(t *testing.T) string {
	t.Helper()
	return cmdtest.Root(t, map[string]string{
		"environment":     "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=correct-horse\n",
		"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: aws\n  aws:region: us-west-2\n",
	})
}

// deployed makes the root's backend one that has something.
func deployed(t *testing.T, root string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, ".runner", "state", ".pulumi"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// atRoot returns cmdtest.InstalledDeps for those who take the output elsewhere.
func atRoot(t *testing.T, root string, i *cmdtest.Installed) cmd.Deps {
	t.Helper()
	d, _, _ := cmdtest.InstalledDeps(t, root, i)
	return d
}
