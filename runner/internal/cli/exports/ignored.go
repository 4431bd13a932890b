package exports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/machine/process"
	"mara/runner/internal/machine/program"
	"mara/runner/internal/repo/gitsource"
)

// ignoredNotes asks git which of the files that environments need it ignores: what is not committed is missing in CI.
// A file that git has already is not ignored. Outside of a repository, or without git, there is nothing to note.
func ignoredNotes(ctx context.Context, all []environment) ([]string, error) {
	var files []string
	for _, e := range all {
		files = append(files, e.files()...)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	first := all[0]
	root := first.Settings.Root
	git, err := program.Find("git", root, first.Env["PATH"])
	if err != nil || len(files) == 0 {
		return nil, nil //nolint:nilerr // without git nothing can be committed
	}
	command := exec.CommandContext(ctx, git, append([]string{"check-ignore", "--"}, files...)...)
	command.Dir, command.Env = root, gitsource.WithoutRepository(process.Environ(first.Env))
	found, err := command.Output()
	var exit *exec.ExitError
	const isNoRepository = 128
	switch {
	case errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == isNoRepository):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("asking git which files it ignores: %w", err)
	}
	var notes []string
	for file := range bytes.Lines(found) {
		name := strings.TrimSpace(string(file))
		notes = append(notes, fmt.Sprintf("commit %s, which the pipeline reads and git ignores: `git add -f %s`, and take it out of .gitignore", name, name))
	}
	return notes, nil
}

// files lists the existing files below the root that an environment is made from.
func (e environment) files() []string {
	s := e.Settings
	names := []string{config.EnvironmentFile, config.MaraFile, config.StackPath(s.Stack.Text), s.Config.File, s.Secrets.File}
	for _, entry := range s.Described.Entries {
		names = append(names, entry.File)
	}
	for _, step := range e.Plan.Steps {
		if own := step.Project.Own; own != nil && own.Git == "" {
			names = append(names, filepath.Join(own.Path, "Pulumi.yaml"))
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		if name == "" || filepath.IsAbs(name) {
			return true
		}
		_, err := os.Stat(filepath.Join(s.Root, name))
		return err != nil
	})
}
