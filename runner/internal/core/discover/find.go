package discover

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/references"
)

// Find finds the projects below a root. It reports projects that cannot be adopted as unsure.
func Find(root string) (found []Found, unsure []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			unsure = append(unsure, unreadable(root, path, err))
			return nil
		case entry.IsDir() && path != root && references.SkippedDir(entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		relative, _ := filepath.Rel(root, filepath.Dir(path)) // path is below root
		shown := filepath.ToSlash(relative)
		switch entry.Name() {
		case "Pulumi.yml", "Pulumi.json":
			unsure = append(unsure, fmt.Sprintf("%s is skipped: rename it to Pulumi.yaml",
				filepath.ToSlash(filepath.Join(shown, entry.Name()))))
		case config.ManifestFile:
			manifest, err := config.ReadManifest(filepath.Dir(path), shown)
			if reason := unusable(manifest, err, found); reason != "" {
				unsure = append(unsure, fmt.Sprintf("%s is skipped: %s", shown, reason))
				return nil
			}
			project := references.Project{Name: manifest.Name, Dir: filepath.Dir(path)}
			found = append(found, Found{Project: project, Path: shown, Backend: manifest.Backend})
		}
		return nil
	})
	for i := range found {
		for _, other := range found {
			if strings.HasPrefix(other.Dir, found[i].Dir+string(filepath.Separator)) {
				found[i].Nested = append(found[i].Nested, other.Dir)
			}
		}
	}
	return found, unsure, err
}

// unreadable says that a directory, such as the data of a container, is skipped because it cannot be read.
func unreadable(root, path string, err error) string {
	relative, _ := filepath.Rel(root, path) // path is below root
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Sprintf("%s is skipped, with any projects in it: it cannot be read (%v)", filepath.ToSlash(relative), err)
}

// unusable returns why a project cannot be adopted, or "".
func unusable(manifest config.Manifest, err error, found []Found) string {
	if err != nil {
		return err.Error()
	}
	if strings.Contains(manifest.Name, "${") {
		return "it is a template"
	}
	if manifest.Name == event.RunProject {
		return fmt.Sprintf("hooks of the run go by its name %s; rename it to adopt it", manifest.Name)
	}
	if i := slices.IndexFunc(found, func(f Found) bool { return f.Name == manifest.Name }); i >= 0 {
		return fmt.Sprintf("its name %s is also the name of %s", manifest.Name, found[i].Path)
	}
	return ""
}

// patterns derives the environments from the names of stacks. A name may have several
// readings: "shop-dev" may be the environment shop-dev, or dev with the prefix shop. The
// reading that most projects share wins, and among equals the one with the shortest affixes.
func patterns(found []Found, states States) model.StackNames {
	agreed := map[string]int{} // environment -> number of projects that may have it
	for _, f := range found {
		for environment := range readings(states[f.Name]) {
			agreed[environment]++
		}
	}
	names := model.StackNames{}
	for _, f := range found {
		if pattern := bestPattern(f.Name, states[f.Name], agreed); pattern != model.StackPlaceholder {
			names[f.Name] = pattern
		}
	}
	return names
}

// readings returns the possible environments of a project's stacks, with their patterns.
func readings[T any](stacks map[string]T) map[string][]string {
	all := map[string][]string{}
	for stack := range stacks {
		for i := range len(stack) {
			for j := i + 1; j <= len(stack); j++ {
				begins := i == 0 || isSeparator(stack[i-1])
				ends := j == len(stack) || isSeparator(stack[j])
				if begins && ends && !isSeparator(stack[i]) && !isSeparator(stack[j-1]) {
					all[stack[i:j]] = append(all[stack[i:j]], stack[:i]+model.StackPlaceholder+stack[j:])
				}
			}
		}
	}
	return all
}

func isSeparator(c byte) bool { return strings.IndexByte("-_.", c) >= 0 }

// bestPattern returns the pattern of a project's stacks that most projects share.
func bestPattern[T any](project string, stacks map[string]T, agreed map[string]int) string {
	candidates := map[string]bool{model.StackPlaceholder: true}
	for _, ways := range readings(stacks) {
		for _, way := range ways {
			candidates[way] = true
		}
	}
	best, most := model.StackPlaceholder, -1
	for _, pattern := range slices.SortedFunc(maps.Keys(candidates), func(a, b string) int { // the shorter first
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	}) {
		score := 0
		for stack := range stacks {
			if environment, ok := (model.StackNames{project: pattern}).Environment(project, stack); ok {
				score += agreed[environment]
			}
		}
		if score > most {
			best, most = pattern, score
		}
	}
	return best
}
