package gitsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"mara/runner/internal/machine/process"
)

// program is git in a directory. Everything of ours that runs git runs it by its command.
type program struct {
	path, dir string
	env       []string
}

// command returns a command of git that runs no program which a repository names: no monitor of its files and no hook,
// and it takes no directory of a repository for one that git has made.
func (p program) command(ctx context.Context, args ...string) *exec.Cmd {
	safe := []string{
		"--no-optional-locks", "--no-pager",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "safe.bareRepository=explicit",
		"-c", "protocol.ext.allow=never", "-c", "core.quotePath=false",
	}
	command := exec.CommandContext(ctx, p.path, append(safe, args...)...) // the one place
	command.Dir, command.Env = p.dir, p.env
	return command
}

// kept begin the names of the variables for git that count where the user has set them for the process.
var kept = []string{
	"GIT_CONFIG_", "GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSH", "GIT_ASKPASS", "GIT_HTTP_", "GIT_SSL_", "GIT_PROXY_",
	"GIT_CEILING_DIRECTORIES",
}

// environ returns the environment of git: that of the process, without variables that would point git at another
// repository, as a hook or `git rebase -x` sets them, or have it run a program to show what it has found.
func environ(env []string) []string {
	own := slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		isKept := func(beginning string) bool { return strings.HasPrefix(name, beginning) }
		return strings.HasPrefix(name, "GIT_") && !slices.ContainsFunc(kept, isKept)
	})
	return append(own, "GIT_TERMINAL_PROMPT=0")
}

// at returns the git on the PATH of an environment.
func at(dir string, env []string) (program, error) {
	path := ""
	for _, variable := range env {
		if text, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = text
		}
	}
	git, err := process.Find("git", dir, path)
	return program{git, dir, environ(env)}, err
}

// withoutFilters returns options that switch off the filters of the repository's own configuration: git would run them
// to compare a file. The options of a filter that the user has for all repositories stay.
func (p program) withoutFilters(ctx context.Context) []string {
	listed, err := p.command(ctx, "config", "--show-scope", "--name-only", "-z", "--get-regexp", `^filter\.`).Output()
	if err != nil {
		return nil // there are none
	}
	var options []string
	words := strings.Split(string(listed), "\x00") // scope and name by turns
	for i := 0; i+1 < len(words); i += 2 {
		scope, name := words[i], words[i+1]
		if last := strings.LastIndexByte(name, '.'); (scope == "local" || scope == "worktree") && last > len("filter") {
			driver := name[:last]
			options = append(options, "-c", driver+".clean=", "-c", driver+".smudge=", "-c", driver+".process=", "-c",
				driver+".required=false")
		}
	}
	return options
}

// output runs a command of git, and returns its output. Its error is what git says.
func (p program) output(ctx context.Context, args ...string) (string, error) {
	out, err := p.command(ctx, args...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	return string(out), err
}

// Look runs a command of git that only reads, in a directory, and returns its output. It runs no program that the
// repository names. Its error is what git says.
func Look(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := look(ctx, dir, args...)
	return strings.TrimSpace(out), err
}

// Names runs a command of git that reads, with its option -z, and returns the names that it lists.
func Names(ctx context.Context, dir string, args ...string) ([]string, error) {
	out, err := look(ctx, dir, args...)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

func look(ctx context.Context, dir string, args ...string) (string, error) {
	git, err := at(dir, os.Environ())
	if err != nil {
		return "", err
	}
	return git.output(ctx, append(git.withoutFilters(ctx), args...)...)
}

// Change runs a command of git that changes a repository, with the repository's own filters: they may encrypt what is
// committed. Its error is what git says.
func Change(ctx context.Context, dir string, args ...string) error {
	git, err := at(dir, os.Environ())
	if err != nil {
		return err
	}
	_, err = git.output(ctx, args...)
	return err
}

// List asks git about files below a root, such as which of them it ignores, and returns the lines of its answer.
// Outside of a repository, or without git on the PATH of the process, env, there are none.
func List(ctx context.Context, root string, env, files []string, args ...string) ([]string, error) {
	git, err := at(root, env)
	if err != nil || len(files) == 0 || !isInRepository(root) {
		return nil, nil //nolint:nilerr // without git there is no repository
	}
	found, err := git.command(ctx, slices.Concat(args, []string{"--"}, files)...).Output()
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
