package exports

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/machine/process"
	"mara/runner/internal/repo/gitsource"
)

const projectFile = "Pulumi.yaml"

// uncommittedNotes asks git which of the files that others read it ignores or does not track: they are missing there.
// A file that git has already is not ignored. Outside of a repository, or without git, there is nothing to note.
func uncommittedNotes(ctx context.Context, first environment, reader string, files []string) ([]string, error) {
	slices.Sort(files)
	files = slices.Compact(files)
	git, err := process.Find("git", first.Settings.Root, first.Env["PATH"])
	if err != nil || len(files) == 0 {
		return nil, nil //nolint:nilerr // without git nothing can be committed
	}
	ask := func(files []string, args ...string) (names []string, err error) {
		command := exec.CommandContext(ctx, git, append(append(args, "--"), files...)...)
		command.Dir, command.Env = first.Settings.Root, gitsource.WithoutRepository(process.Environ(first.Env))
		found, err := command.Output()
		var exit *exec.ExitError
		const isNoRepository = 128
		switch {
		case errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == isNoRepository):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("asking git which files it has: %w", err)
		}
		return strings.FieldsFunc(string(found), func(r rune) bool { return r == '\n' }), nil
	}
	ignored, ignoredErr := ask(files, "check-ignore")
	within := slices.Clone(files) // of a project: all of its directory
	for i, file := range within {
		if filepath.Base(file) == projectFile {
			within[i] = filepath.Dir(file)
		}
	}
	untracked, untrackedErr := ask(within, "ls-files", "--others", "--exclude-standard", "--directory",
		"--no-empty-directory")
	var notes []string
	for _, name := range ignored {
		notes = append(notes, fmt.Sprintf("commit %s, which %s reads and git ignores: `git add -f %s`, and take it out "+
			"of .gitignore", name, reader, name))
	}
	for _, name := range untracked {
		notes = append(notes, fmt.Sprintf("commit %s, which %s reads and git does not have: `git add %s`", name,
			reader, name))
	}
	return notes, errors.Join(ignoredErr, untrackedErr)
}

// projectFiles lists the Pulumi.yaml of the user's projects in the checkout that reads reports.
func (e environment) projectFiles(reads func(model.Project) bool) []string {
	var files []string
	for _, step := range e.Plan.Steps {
		if own := step.Project.Own; own != nil && own.Git == "" && reads(step.Project) {
			files = append(files, filepath.Join(own.Path, projectFile))
		}
	}
	return files
}

// files lists the existing files below the root that an environment is made from.
func (e environment) files() []string {
	s := e.Settings
	names := []string{config.EnvironmentFile, config.MaraFile, config.StackPath(s.Stack.Text), s.Config.File,
		s.Secrets.File}
	for _, entry := range s.Described.Entries {
		names = append(names, entry.File)
	}
	names = append(names, e.projectFiles(func(model.Project) bool { return true })...)
	return slices.DeleteFunc(names, func(name string) bool {
		if name == "" || filepath.IsAbs(name) {
			return true
		}
		_, err := os.Stat(filepath.Join(s.Root, name))
		return err != nil
	})
}
