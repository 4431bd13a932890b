package gitsource_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mara/runner/internal/core/gitsource"
)

// git runs the git of the test, as a user would.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	command := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
	command.Dir = dir
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, output)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestLookingRunsNothing: what a repository configures is not run to look at it, and what it has committed as a bare
// repository is none.
func TestLookingRunsNothing(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs git and a shell")
	}
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	evil := filepath.Join(dir, "evil")
	write(t, evil, "#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\ncat\n")
	root := filepath.Join(dir, "root")
	write(t, filepath.Join(root, ".gitattributes"), "* filter=x diff=x\n")
	write(t, filepath.Join(root, "file"), "one")
	git(t, root, "init", "-q")
	git(t, root, "add", ".")
	git(t, root, "commit", "-qm", "first")
	for key, value := range map[string]string{
		"core.fsmonitor": evil, "filter.x.clean": evil, "filter.x.smudge": evil, "filter.x.process": evil, "filter.x.required": "true",
		"diff.x.command": evil, "diff.x.textconv": evil, "diff.external": evil, "core.pager": evil, "core.hooksPath": filepath.Join(dir, "hooks"),
		"core.sshCommand": evil, "core.editor": evil,
	} {
		git(t, root, "config", key, value)
	}
	for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-commit"} {
		write(t, filepath.Join(dir, "hooks", hook), "#!/bin/sh\necho "+hook+" >>'"+ran+"'\n")
	}
	write(t, filepath.Join(root, "file"), "two") // of the same length, so that git has to compare it
	bare := filepath.Join(root, "bare")
	for file, content := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tfsmonitor = " + evil + "\n",
	} {
		write(t, filepath.Join(bare, file), content)
	}
	for _, name := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(bare, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if commit := gitsource.CommitOf(t.Context(), root); !strings.HasSuffix(commit, gitsource.Changes) {
		t.Errorf("the commit is %q", commit)
	}
	changed, err := gitsource.Names(t.Context(), root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", "HEAD", "--")
	if err != nil || len(changed) != 1 || changed[0] != "file" {
		t.Errorf("changed: %q, %v", changed, err)
	}
	if others, err := gitsource.Names(t.Context(), root, "ls-files", "--others", "--exclude-standard", "-z"); err != nil || len(others) == 0 {
		t.Errorf("others: %q, %v", others, err)
	}
	if _, err := gitsource.List(t.Context(), root, os.Environ(), []string{"file"}, "check-ignore"); err != nil {
		t.Error(err)
	}
	if _, err := gitsource.List(t.Context(), root, os.Environ(), []string{"file"}, "ls-files"); err != nil {
		t.Error(err)
	}
	if top, err := gitsource.Look(t.Context(), bare, "status"); err == nil {
		t.Errorf("a committed bare repository is one: %s", top)
	}
	if content, err := os.ReadFile(ran); err == nil {
		t.Errorf("looking has run:\n%s", content)
	}
}

// TestLookingIgnoresVariables: variables do not point git at another repository, or at a program.
func TestLookingIgnoresVariables(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs git and a shell")
	}
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	write(t, filepath.Join(dir, "evil"), "#!/bin/sh\n>'"+ran+"'\n")
	root := filepath.Join(dir, "root")
	write(t, filepath.Join(root, "file"), "one")
	git(t, root, "init", "-q")
	git(t, root, "add", ".")
	git(t, root, "commit", "-qm", "first")
	write(t, filepath.Join(root, "file"), "two, changed")
	want := gitsource.CommitOf(t.Context(), root)
	t.Setenv("GIT_DIR", filepath.Join(dir, "elsewhere"))
	t.Setenv("GIT_EXTERNAL_DIFF", filepath.Join(dir, "evil"))
	t.Setenv("GIT_EXEC_PATH", dir)
	t.Setenv("GIT_PAGER", filepath.Join(dir, "evil"))
	if got := gitsource.CommitOf(t.Context(), root); got != want || want == "" {
		t.Errorf("got %q, want %q", got, want)
	}
	if diff, err := gitsource.Look(t.Context(), root, "diff"); err != nil || !strings.Contains(diff, "+two, changed") {
		t.Errorf("%s, %v", diff, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of a variable has run")
	}
}
