package gitsource_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/core/gitsource"
)

// repository makes a repository with two versions of a file.
func repository(t *testing.T, git, dir string) (first string) {
	t.Helper()
	run := func(args ...string) string {
		command := exec.Command(git, append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
		command.Dir = dir
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, output)
		}
		return strings.TrimSpace(string(output))
	}
	write := func(content string) {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		run("add", "file")
		run("commit", "--quiet", "-m", content)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run("init", "--quiet")
	write("one")
	run("tag", "v1")
	first = run("rev-parse", "HEAD")
	write("two")
	return first
}

func TestFetch(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	first := repository(t, git, filepath.Join(root, "infra"))
	for _, test := range []struct{ ref, want string }{{"v1", "one"}, {"main", "two"}, {first, "one"}, {first[:10], "one"}} {
		s := gitsource.Source{URL: "./infra", Ref: test.ref}
		if _, ok := s.Commit(root); ok {
			t.Errorf("%s is there before it is fetched", s)
		}
		for range 2 { // a second time it is replaced
			if err := s.Fetch(t.Context(), git, root, os.Environ()); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
		content, _ := os.ReadFile(filepath.Join(s.Directory(root), "file"))
		if commit, ok := s.Commit(root); string(content) != test.want || !ok || (test.want == "one") != (commit == first) {
			t.Errorf("%s: %q at %s, %t", s, content, commit, ok)
		}
	}
	entries, _ := os.ReadDir(filepath.Join(root, ".runner", "git"))
	if len(entries) != 4 {
		t.Errorf("there is more than the four revisions: %v", entries)
	}
	s := gitsource.Source{URL: "./infra", Ref: "v2"}
	if err := s.Fetch(t.Context(), git, root, os.Environ()); err == nil || !strings.Contains(err.Error(), "git fetch: ") {
		t.Errorf("a tag that there is not: %v", err)
	}
	if _, ok := s.Commit(root); ok {
		t.Error("a tag that there is not is kept")
	}
}

// TestFetchFromHook: git tells its hooks which repository it works on, and a fetch leaves that repository alone.
func TestFetchFromHook(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	repository(t, git, filepath.Join(root, "infra"))
	users := filepath.Join(root, "users")
	repository(t, git, users)
	configuration := filepath.Join(users, ".git", "config")
	before, _ := os.ReadFile(configuration)
	env := append(os.Environ(), "GIT_DIR="+filepath.Join(users, ".git"), "GIT_WORK_TREE="+users, "GIT_INDEX_FILE="+filepath.Join(users, ".git", "index"))
	s := gitsource.Source{URL: "./infra", Ref: "v1"}
	if err := s.Fetch(t.Context(), git, root, env); err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(filepath.Join(s.Directory(root), "file")); string(content) != "one" {
		t.Errorf("fetched %q", content)
	}
	if after, _ := os.ReadFile(configuration); string(after) != string(before) {
		t.Errorf("the configuration of the user's repository is\n%s\nit was\n%s", after, before)
	}
	if head, _ := os.ReadFile(filepath.Join(users, ".git", "HEAD")); !strings.HasPrefix(string(head), "ref: ") {
		t.Errorf("the HEAD of the user's repository is %s", head)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://github.com/acme/infra.git": "infra@v1", "git@github.com:acme/infra": "infra@v1", "git@host:infra.git": "infra@v1", "../infra/": "infra@v1",
	} {
		if got := (gitsource.Source{URL: url, Ref: "v1"}).String(); got != want {
			t.Errorf("%s is shown as %s", url, got)
		}
	}
}

// TestCommitOf: files outside of the root do not count, nor does a repository without a commit.
func TestCommitOf(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "repository", "root")
	check := func(want string) {
		t.Helper()
		if got := gitsource.CommitOf(t.Context(), root); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	write := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("more"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	check("")
	if err := gitsource.Change(t.Context(), dir, "init", "--quiet", "repository"); err != nil {
		t.Fatal(err)
	}
	check("")
	repository(t, git, filepath.Dir(root))
	commit, err := gitsource.Look(t.Context(), root, "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	check(commit[:12])
	write(filepath.Join(filepath.Dir(root), "outside"))
	check(commit[:12])
	write(filepath.Join(root, "inside"))
	check(commit[:12] + gitsource.Changes)
}

// TestAddressOf: all clones of a repository have one address, without credentials, whatever way they are fetched.
func TestAddressOf(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"":                                   "",
		"https://example.com/acme/infra.git": "example.com/acme/infra//clusters",
		"https://user:secret@example.com:8443/acme/infra/": "example.com/acme/infra//clusters",
		"git@example.com:acme/infra.git":                   "example.com/acme/infra//clusters",
		"ssh://git@example.com:22/acme/infra":              "example.com/acme/infra//clusters",
		"/srv/git/infra.git":                               "/srv/git/infra//clusters",
	} {
		dir := t.TempDir()
		root := filepath.Join(dir, "clusters")
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "init", "--quiet")
		if remote != "" {
			git(t, dir, "remote", "add", "origin", remote)
		}
		if got := gitsource.AddressOf(t.Context(), root); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
}
