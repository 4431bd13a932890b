// Package operate installs missing or changed dependencies of the programs of own
// projects.
package operate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config/files"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
)

// withoutDependencies returns the runtimes whose programs have nothing to install: Go fetches
// its modules during a build.
func withoutDependencies() []string { return []string{"", "yaml", "go", model.Runtime} }

// dependencyFiles returns the files that list dependencies in the other runtimes.
func dependencyFiles() []string {
	return []string{
		"Pulumi.yaml", "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
		"requirements.txt",
		"pyproject.toml", "poetry.lock", "uv.lock", "*.csproj", "*.fsproj", "*.vbproj", "packages.lock.json", "pom.xml",
		"build.gradle", "build.gradle.kts",
	}
}

// dependencyDirs returns the directories with installed dependencies.
func dependencyDirs() []string { return []string{"node_modules", "venv", ".venv"} }

// Missing returns the own projects of a plan whose dependencies are not installed, or have
// changed since the runner installed them.
func Missing(root string, p plan.Plan) []model.Project {
	var all []model.Project
	for _, step := range p.Steps {
		if own := step.Project.Own; own != nil && !slices.Contains(withoutDependencies(), own.Runtime) &&
			!isInstalled(root, step.Project) {
			all = append(all, step.Project)
		}
	}
	return all
}

// isInstalled reports whether the record of the last installation fits the project. Without a record, dependencies
// that the user has installed count.
func isInstalled(root string, project model.Project) bool {
	content, err := files.Read(installed(root, project), files.Data)
	if err != nil {
		return slices.ContainsFunc(dependencyDirs(), func(name string) bool { return exists(project.Own.Dir, name) })
	}
	digest, directories, _ := strings.Cut(string(content), "\n")
	isGone := func(name string) bool { return !exists(project.Own.Dir, name) }
	return digest == dependencies(project.Own.Dir) && !slices.ContainsFunc(strings.Fields(directories), isGone)
}

// installation returns what isInstalled reads: the digest of the files, and the directories that there are. Where a package
// manager installs elsewhere, as with workspaces, there are none.
func installation(dir string) []byte {
	directories := slices.DeleteFunc(dependencyDirs(), func(name string) bool { return !exists(dir, name) })
	return []byte(dependencies(dir) + "\n" + strings.Join(directories, " "))
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// installed returns the path of the record of the last installation. Simulations share it.
func installed(root string, project model.Project) string {
	return layout.Of(root, false).Installed(project.Name)
}

// dependencies returns a digest of the dependency files in a directory.
func dependencies(dir string) string {
	digest := sha256.New()
	for _, pattern := range dependencyFiles() {
		matches, _ := files.Glob(dir, pattern) // the patterns are valid
		for _, file := range matches {
			content, _ := files.Read(file, files.Data)
			fmt.Fprintf(digest, "%s %d\n%s", filepath.Base(file), len(content), content)
		}
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// Installer installs dependencies with Pulumi.
type Installer struct {
	Root    string
	Command stacks.Command
	Env     map[string]string
	Plugins bool // also install plugins of resource providers, which simulations do not need
	Masker  *event.Masker
	Stderr  io.Writer
}

// Install installs the dependencies of projects one after the other: package managers share
// caches, and not all of them lock these.
func (i Installer) Install(ctx context.Context, all []model.Project) error {
	var flags []string
	if !i.Plugins {
		flags = []string{"--no-plugins"}
	}
	for _, project := range all {
		fmt.Fprintf(i.Stderr, "installing the dependencies of %s (%s)\n", project.Name, project.Own.Runtime)
		if err := stacks.Install(ctx, i.Command, project.Own.Dir, i.Env, flags...); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return &failure.Environment{
				Text: fmt.Sprintf("installing the dependencies of %s: %s", project.Name, i.Masker.Mask(err.Error())),
				Next: "run `pulumi install` or the package manager in " + project.Own.Dir + " to see more",
			}
		}
		file := installed(i.Root, project)
		if err := atomicfile.WriteDeep(file, installation(project.Own.Dir), 0o644, 0o755); err != nil {
			return failure.RunnerDir(err)
		}
	}
	return nil
}
