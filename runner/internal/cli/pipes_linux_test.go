package cli_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestLookingAtPipes: a pipe without a writer, or a link to an endless device, in place of any file of a root and of its
// runs holds no command that only looks.
func TestLookingAtPipes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, _ := hostileRoot(t)
	for name, content := range map[string]string{
		"Pulumi.yaml": "name: alone\nruntime: yaml\n", "a/Pulumi.dev.yaml": "config: {}\n", "a/requirements.txt": "pulumi\n",
		"mara.yaml": "projects:\n  - path: a\n    config: {text: {type: string}, key: {type: string, secret: true}}\n    inputs: [notes.txt]\n",
		"notes.txt": "x\n", "config/pulumi/secrets/Pulumi.dev.yaml": "config: {}\n", "config/rollout.yaml": "waves: []\n",
		".runner/runs/20270101-000000-000abc/meta.json":     "{}\n",
		".runner/runs/20270101-000000-000abc/events.ndjson": "",
		".runner/state/.pulumi/meta.yaml":                   "version: 1\n",
		".runner/state/.pulumi/stacks/a/dev.json":           `{"version":3,"checkpoint":{"stack":"organization/a/dev","latest":{}}}`,
	} {
		cmdtest.WriteFile(t, filepath.Join(root, filepath.FromSlash(name)), content)
	}
	lines := []string{
		"check", "status -s dev", "outputs -s dev", "fleet plan --affected", "adopt --print", "config list -s dev", "history", "policy list",
	}
	replacements := []func(path string) error{func(path string) error { return syscall.Mkfifo(path, 0o600) }}
	if !testing.Short() {
		replacements = append(replacements, func(path string) error { return os.Symlink("/dev/zero", path) })
	}
	for _, replace := range replacements {
		inPlaceOfEachFile(t, root, replace, func(path string) {
			for _, line := range lines {
				lookWithin(t, root, path, line)
			}
		})
	}
}

// inPlaceOfEachFile puts something in place of each file of a hostile root in turn, and tries what comes of it.
func inPlaceOfEachFile(t *testing.T, root string, replace func(path string) error, try func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "bare", "traps", "venv"}, d.Name()) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		kept := filepath.Join(t.TempDir(), "kept")
		if err := errors.Join(os.Rename(path, kept), replace(path)); err != nil {
			return err
		}
		try(path)
		return errors.Join(os.Remove(path), os.Rename(kept, path))
	})
	if err != nil {
		t.Error(err)
	}
}

// lookWithin runs a command, which must end by itself.
func lookWithin(t *testing.T, root, file, line string) {
	t.Helper()
	d, _, _ := cmdtest.Deps(t)
	d.Dir, d.Environ = root, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(root)}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, interrupt.ErrInterrupted)
	defer cancel()
	wire.Run(ctx, d, strings.Fields(line))
	if ctx.Err() == nil {
		return
	}
	t.Errorf("%s waits for %s", line, file)
	if writer, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		writer.Close() // which lets it go
	}
}
