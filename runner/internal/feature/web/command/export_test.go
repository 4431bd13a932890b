package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestExportKeepsFilesOfOthers: the pages replace what the command wrote itself, and no other file.
func TestExportKeepsFilesOfOthers(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	dir := filepath.Join(t.TempDir(), "public")
	run := func(args ...string) (code int, stdout, stderr string) {
		d, out, problems := cmdtest.Deps(t)
		d.Dir = root
		return wire.Run(t.Context(), d, append([]string{"web", "--export", dir}, args...)), out.String(), problems.String()
	}
	for range 2 { // the second time it replaces what it wrote
		if code, stdout, stderr := run(); code != 0 || !strings.Contains(stdout, "1 environment in "+dir) {
			t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
		}
	}
	index := filepath.Join(dir, "index.html")
	if content, err := os.ReadFile(index); err != nil || !strings.Contains(string(content), `href="e/dev.html"`) {
		t.Errorf("%v: %.500s", err, content)
	}
	mine := filepath.Join(dir, "mine.txt")
	cmdtest.WriteFile(t, mine, "mine")
	if code, _, stderr := run(); code == 0 || !strings.Contains(stderr, "has files that `runner web --export` did not write: mine.txt") || !strings.Contains(stderr, "nothing was written") {
		t.Errorf("a file of others: exit code %d, %s", code, stderr)
	}
	if content, err := os.ReadFile(mine); err != nil || string(content) != "mine" {
		t.Errorf("the file of others: %q, %v", content, err)
	}
	for flags, want := range map[string]string{"--listen 127.0.0.1:0": "remove --listen", "--no-open": "remove --no-open", "--days -1": "less than 0"} {
		if code, _, stderr := run(strings.Fields(flags)...); code != cmd.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s", flags, code, stderr)
		}
	}
	d, _, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(t.Context(), d, []string{"web", "--days", "3"}); code != cmd.ExitUsage || !strings.Contains(stderr.String(), "it is for --export") {
		t.Errorf("--days alone: %d, %s", code, stderr)
	}
}
