package cli

import (
	"context"
	"slices"
	"time"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
)

// looks are the commands that only look, of the core and of the features. They run no program of the repository, what
// they print controls no terminal, and a signal ends them within a second, whatever they wait for.
func looks(features []extend.Feature) []string {
	all := []string{
		"completion", "config diff", "config explain", "config get", "config list", "config reference", "config schema", "env", "history",
		"hook list", "logs", "outputs", "plan", "providers", "report", "schema", "secrets list", "show", "stacks", "status", "support", "version",
	}
	for _, feature := range features {
		all = append(all, feature.Looks...)
	}
	return all
}

// exact are commands whose output programs read as it is, where it is no terminal.
func exact() []string { return []string{"completion", "config get", "env", "outputs", "schema"} }

// look does the work of a command that only looks.
func look(ctx context.Context, d cmd.Deps, path string, work func(cmd.Deps) error) error {
	stderr := cmd.NewOutlet(d.Stderr, d.StderrIsTerminal)
	stderr.Tame()
	d.Stderr = stderr
	stdout, isOutlet := d.Stdout.(*cmd.Outlet)
	if isOutlet && (d.StdoutIsTerminal || !slices.Contains(exact(), path)) {
		stdout.Tame()
	}
	return endSoon(ctx, func() error {
		err := work(d)
		stderr.Flush()
		if isOutlet {
			stdout.Flush()
		}
		return err
	})
}

// patience is how long a command that only looks may take to end by itself.
const patience = time.Second

// endSoon does work that may be left alone when ctx ends: a file system that does not answer would not see the end.
func endSoon(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return context.Cause(ctx)
	}
}
