// Package gitsource fetches the git repositories that mara.yaml names, and stores them
// below .runner. It runs the git command, so that the user's SSH agent, credential
// helpers, proxies and URL rewrites apply.
package gitsource

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/process"
)

// Source is a revision of a repository.
type Source struct {
	URL string // as in mara.yaml; a URL that begins with . is a path below the root
	Ref string // a tag, a branch or a commit
}

// String returns the short name of the source: infra@v1.
func (s Source) String() string { return s.name() + "@" + s.Ref }

// name returns the last part of the URL.
func (s Source) name() string {
	url := strings.TrimSuffix(strings.TrimRight(s.URL, "/"), ".git")
	return path.Base(strings.ReplaceAll(url, ":", "/"))
}

// Directory returns where the revision is stored.
func (s Source) Directory(root string) string {
	digest := sha256.Sum256([]byte(s.URL + "\x00" + s.Ref))
	return layout.Of(root, false).Git(s.name() + "-" + hex.EncodeToString(digest[:6]))
}

// Commit reads the stored commit; ok is false if there is none.
func (s Source) Commit(root string) (commit string, ok bool) {
	content, err := os.ReadFile(filepath.Join(s.Directory(root), ".git", "HEAD")) // no branch is checked out
	return strings.TrimSpace(string(content)), err == nil
}

// Fetch fetches the revision, and replaces the stored one in one step. env is the
// environment of git; git is its path.
func (s Source) Fetch(ctx context.Context, git, root string, env []string) error {
	directory := s.Directory(root)
	if err := os.MkdirAll(filepath.Dir(directory), 0o755); err != nil {
		return err
	}
	layout.IgnoreInGit(root)
	work, err := os.MkdirTemp(filepath.Dir(directory), ".fetching-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	c := command{git: git, dir: work, env: append(WithoutRepository(env), "GIT_TERMINAL_PROMPT=0")}
	if err := c.fetch(ctx, s, root); err != nil {
		return err
	}
	return atomicfile.ReplaceDirectory(directory, work)
}

// repositoryVariables are the variables that point git at a repository, as a hook or `git rebase -x` sets them
// (`git rev-parse --local-env-vars`, without those of the configuration, which may hold credentials).
var repositoryVariables = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
	"GIT_WORK_TREE",
}

// WithoutRepository returns the environment without the variables that would point git at the user's repository.
func WithoutRepository(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(repositoryVariables, name)
	})
}

// command runs git in a directory.
type command struct {
	git, dir string
	env      []string
}

// fetch fetches a single revision. If the revision is a commit and the server serves only
// branches and tags, it fetches everything.
func (c command) fetch(ctx context.Context, s Source, root string) error {
	url := s.URL
	if strings.HasPrefix(url, ".") {
		url = filepath.Join(root, filepath.FromSlash(url))
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"remote", "add", "origin", url}} {
		if err := c.run(ctx, args...); err != nil {
			return err
		}
	}
	first := c.run(ctx, "fetch", "--quiet", "--depth", "1", "origin", s.Ref)
	if first == nil {
		return c.run(ctx, "checkout", "--quiet", "--detach", "FETCH_HEAD")
	}
	isCommit := len(s.Ref) >= 7 && strings.Trim(s.Ref, "0123456789abcdef") == ""
	if !isCommit || ctx.Err() != nil {
		return first
	}
	if err := c.run(ctx, "fetch", "--quiet", "origin"); err != nil {
		return err
	}
	return c.run(ctx, "checkout", "--quiet", "--detach", s.Ref)
}

// run runs git. The error has its output, with credentials in URLs masked.
func (c command) run(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, c.git, args...)
	command.Dir, command.Env = c.dir, c.env
	output, err := command.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := cmp.Or(strings.TrimSpace(string(output)), err.Error())
	return fmt.Errorf("git %s: %s", args[0], event.MaskURLs(strings.Join(strings.Fields(text), " ")))
}

// Changes ends a commit from which files of the work tree differ.
const Changes = "+changes"

// CommitOf returns the commit of a work tree, marked if files below root differ from it, or "" for none.
func CommitOf(ctx context.Context, root string) string {
	if os.Getenv("GIT_DIR") == "" && !isInRepository(root) {
		return ""
	}
	status, err := Run(ctx, root, "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--", ".")
	if err != nil {
		return ""
	}
	const short = 12
	var commit, changes string
	for line := range strings.Lines(status) {
		switch oid, isCommit := strings.CutPrefix(line, "# branch.oid "); {
		case isCommit && len(oid) > short && oid[0] != '(': // (initial) before the first commit
			commit = oid[:short]
		case !strings.HasPrefix(line, "#"):
			changes = Changes
		}
	}
	if commit == "" {
		return ""
	}
	return commit + changes
}

// isInRepository reports whether git has a directory for a directory or for one above it. It takes no process, which
// would be a tenth of the time of an up that runs nothing.
func isInRepository(directory string) bool {
	for ; ; directory = filepath.Dir(directory) {
		if _, err := os.Lstat(filepath.Join(directory, ".git")); err == nil {
			return true
		}
		if directory == filepath.Dir(directory) {
			return false
		}
	}
}

// Run runs a command of git in a directory, and returns its output. Its error is what git says.
func Run(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	out, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// List asks git about files below a root, such as which of them it ignores, and returns the lines of its answer.
// Outside of a repository, or without git on the PATH of env, there are none.
func List(
	ctx context.Context, root string, env map[string]string, files []string, args ...string,
) ([]string, error) {
	git, err := process.Find("git", root, env["PATH"])
	if err != nil || len(files) == 0 || !isInRepository(root) {
		return nil, nil //nolint:nilerr // without git there is no repository
	}
	command := exec.CommandContext(ctx, git, slices.Concat(args, []string{"--"}, files)...)
	command.Dir, command.Env = root, WithoutRepository(process.Environ(env))
	found, err := command.Output()
	var exit *exec.ExitError
	const none, isNoRepository = 1, 128
	switch {
	case errors.As(err, &exit) && (exit.ExitCode() == none || exit.ExitCode() == isNoRepository):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("asking git which files it has: %w", err)
	}
	return strings.FieldsFunc(string(found), func(r rune) bool { return r == '\n' }), nil
}
