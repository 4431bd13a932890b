package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestLookingAtLinks: a link out of the repository in place of any of its files shows nothing of where it leads.
func TestLookingAtLinks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, _ := hostileRoot(t)
	for name, content := range map[string]string{
		"Pulumi.yaml": "name: alone\nruntime: yaml\n", "a/Pulumi.dev.yaml": "config: {}\n", "prices.yaml": "currency: EUR\n",
		"config/pulumi/secrets/Pulumi.dev.yaml": "config: {}\n", "config/rollout.yaml": "waves: []\n", "b/Pulumi.yaml": "name: b\nruntime: yaml\n",
		"config/layers/l.yaml": "values: {}\n", "config/environments/dev2.yaml": "imports: [l]\nvalues: {runner: {provider: own}}\n",
	} {
		cmdtest.WriteFile(t, filepath.Join(root, filepath.FromSlash(name)), content)
	}
	lines := []string{"check", "config list -s dev", "config explain a:text -s dev", "status -s dev", "plan -s dev", "env -s dev", "policy list", "query mine",
		"fleet list", "fleet get a:text", "fleet costs", "secrets list -s dev", "hook list -s dev", "adopt --print"}
	// What a key or a list of variables looks like, and what is valid wherever YAML is.
	secrets := []string{"-----BEGIN swordfish-----\nswordfish=1\n", "config: {\"a:text\": swordfish, swordfish: 1}\nvalues: {pulumiConfig: {\"a:text\": swordfish}}\nname: swordfish\nswordfish: x\n"}
	outside := filepath.Join(t.TempDir(), "key")
	inPlaceOfEachFile(t, root, func(path string) error { return os.Symlink(outside, path) }, func(path string) {
		for _, secret := range secrets {
			cmdtest.WriteFile(t, outside, secret)
			for _, line := range lines {
				d, stdout, stderr := cmdtest.Deps(t)
				d.Dir, d.Environ = root, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(root)}
				wire.Run(t.Context(), d, strings.Fields(line))
				if said := stdout.String() + stderr.String(); strings.Contains(said, "swordfish") {
					t.Errorf("%s with %s as a link shows what it leads to:\n%s", line, path, said)
				}
			}
		}
	})
}
