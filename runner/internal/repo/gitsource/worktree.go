package gitsource

import (
	"context"
	"errors"
	"os/exec"
	"strings"
)

// Changes ends a commit from which files of the work tree differ.
const Changes = "+changes"

// CommitOf returns the commit of a work tree, marked if files below root differ from it, or "" for none.
func CommitOf(ctx context.Context, root string) string {
	commit, err := Run(ctx, root, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return ""
	}
	if changed, err := Run(ctx, root, "status", "--porcelain", "--", "."); err == nil && changed != "" {
		commit += Changes
	}
	return commit
}

// Run runs a command of git in a directory, and returns its output. Its error is what git says.
func Run(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	out, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
