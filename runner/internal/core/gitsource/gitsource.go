// Package gitsource fetches the git repositories that mara.yaml names, and stores them
// below .runner. It runs the git command, so that the user's SSH agent, credential
// helpers, proxies and URL rewrites apply.
package gitsource

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mara/config/files"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/layout"
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
	content, err := files.Read(filepath.Join(s.Directory(root), ".git", "HEAD"), files.Text) // no branch is checked out
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
	c := command{program{git, work, environ(env)}}
	if err := c.fetch(ctx, s, root); err != nil {
		return err
	}
	return atomicfile.ReplaceDirectory(directory, work)
}

// command fetches into a directory.
type command struct{ program }

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
	command := c.command(ctx, args...)
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

// AddressOf returns where a root is, for all clones of its repository: the host and path of the remote origin, and the
// place in the repository; "" if there is none.
func AddressOf(ctx context.Context, root string) string {
	if !isInRepository(root) {
		return ""
	}
	remote, err := Look(ctx, root, "remote", "get-url", "origin")
	if err != nil {
		return ""
	}
	prefix, err := Look(ctx, root, "rev-parse", "--show-prefix")
	if err != nil {
		return ""
	}
	address := strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(remote), "/"), ".git")
	if parsed, err := url.Parse(address); err == nil && parsed.Host != "" {
		address = parsed.Hostname() + parsed.Path
	} else if host, path, isSSH := strings.Cut(address, ":"); isSSH { // git@github.com:acme/infra
		address = host[strings.LastIndexByte(host, '@')+1:] + "/" + strings.TrimLeft(path, "/")
	}
	if prefix = strings.Trim(strings.TrimSpace(prefix), "/"); prefix != "" {
		address += "//" + prefix
	}
	return address
}

// CommitOf returns the commit of a work tree, marked if files below root differ from it, or "" for none.
func CommitOf(ctx context.Context, root string) string {
	if !isInRepository(root) {
		return ""
	}
	status, err := Look(ctx, root, "status", "--porcelain=v2", "--branch", "--ignore-submodules=dirty", "--", ".")
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
