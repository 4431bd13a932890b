package discover

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/references"
)

// Find finds the projects below a root. Refused are those that cannot be adopted, and what cannot be read.
func Find(root string) (found []Found, refused []Refused, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			refused = append(refused, unreadable(root, path, err))
			return nil
		case entry.IsDir() && path != root && references.SkippedDir(path):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		relative, _ := filepath.Rel(root, filepath.Dir(path)) // path is below root
		shown := filepath.ToSlash(relative)
		switch entry.Name() {
		case "Pulumi.yml", "Pulumi.json":
			refused = append(refused, Refused{Path: shown, Reason: fmt.Sprintf("rename %s to Pulumi.yaml", entry.Name())})
		case config.ManifestFile:
			manifest, err := config.ReadManifest(filepath.Dir(path), shown)
			if reason := unusable(manifest, err); reason != "" {
				refused = append(refused, Refused{Path: shown, Reason: reason})
				return nil
			}
			project := references.Project{Name: manifest.Name, Dir: filepath.Dir(path)}
			files := filepath.Join(project.Dir, filepath.FromSlash(manifest.StackConfigDir))
			found = append(found, Found{Project: project, Path: shown, Backend: backendOf(manifest, project.Dir),
				Files: stackFiles(files)})
		}
		return nil
	})
	found, same := withoutSameNames(found)
	refused = append(refused, same...)
	for i := range found {
		for _, other := range found {
			if strings.HasPrefix(other.Dir, found[i].Dir+string(filepath.Separator)) {
				found[i].Nested = append(found[i].Nested, other.Dir)
			}
		}
	}
	return found, refused, err
}

// Refused is a directory that cannot be adopted.
type Refused struct {
	Path    string             `json:"path"` // below the root
	Reason  string             `json:"reason"`
	Project references.Project `json:"-"` // that others may read; zero for none
}

// String says that it is skipped, and why.
func (r Refused) String() string { return r.Path + " is skipped: " + r.Reason }

// withoutSameNames removes projects of the same name: which of them has the stacks is not known, unless only one has
// stack files.
func withoutSameNames(found []Found) (left []Found, refused []Refused) {
	for i, f := range found {
		var others []Found
		for j, other := range found {
			if i != j && other.Name == f.Name {
				others = append(others, other)
			}
		}
		hasFiles := func(f Found) bool { return len(f.Files) > 0 }
		if len(others) == 0 || hasFiles(f) && !slices.ContainsFunc(others, hasFiles) {
			left = append(left, f)
			continue
		}
		paths := lists.Map(others, func(f Found) string { return f.Path })
		refused = append(refused, Refused{Path: f.Path, Project: f.Project,
			Reason: fmt.Sprintf("its name %s is also the name of %s", f.Name, strings.Join(paths, " and "))})
	}
	return left, refused
}

// backendOf returns the backend that a Pulumi.yaml names; a relative directory begins at the project's.
func backendOf(manifest config.Manifest, dir string) string {
	backend, err := config.AbsoluteBackend(config.Value{Text: manifest.Backend.Text}, dir)
	if err != nil {
		return manifest.Backend.Text
	}
	return backend.Text
}

// stackFiles returns the names of the stacks that have a file in a directory, without those of templates.
func stackFiles(dir string) (stacks []string) {
	entries, _ := os.ReadDir(dir) // there may be none
	for _, entry := range entries {
		stack, ok := config.StackOfFile(entry)
		isTemplate := slices.Contains([]string{"example", "sample", "template", "stackname"}, strings.ToLower(stack))
		if ok && !isTemplate && config.CheckStackName(stack) == nil {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// unreadable says that a directory, such as the data of a container, is skipped because it cannot be read.
func unreadable(root, path string, err error) Refused {
	relative, _ := filepath.Rel(root, path) // path is below root
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return Refused{Path: filepath.ToSlash(relative), Reason: fmt.Sprintf("with any projects in it: it cannot be read (%v)", err)}
}

// unusable returns why a project cannot be adopted, or "".
func unusable(manifest config.Manifest, err error) string {
	if err != nil {
		return err.Error()
	}
	if strings.Contains(manifest.Name, "${") {
		return "it is a template"
	}
	if manifest.Name == event.RunProject {
		return fmt.Sprintf("hooks of the run go by its name %s; rename it to adopt it", manifest.Name)
	}
	if runtimes := config.Runtimes(); manifest.Runtime != "" && !slices.Contains(runtimes, manifest.Runtime) {
		return fmt.Sprintf("its runtime %s is none of Pulumi's: %s%s", manifest.Runtime, strings.Join(runtimes, ", "),
			config.DidYouMean(manifest.Runtime, runtimes))
	}
	return ""
}

// patterns derives the environments from the names of stacks. A name may have several
// readings: "shop-dev" may be the environment shop-dev, or dev with the prefix shop. The
// reading that most projects share wins, and among equals the one with the shortest affixes.
func patterns(found []Found, states States) model.StackNames {
	agreed := map[string]int{} // environment -> number of projects that may have it
	stacks := map[string]map[string]bool{}
	for _, f := range found {
		stacks[f.Name] = stacksOf(f, states)
		for environment := range readings(stacks[f.Name]) {
			agreed[environment]++
		}
	}
	names := model.StackNames{}
	for _, f := range found {
		if pattern := bestPattern(f.Name, stacks[f.Name], agreed); pattern != model.StackPlaceholder {
			names[f.Name] = pattern
		}
	}
	return names
}

// stacksOf returns the names of a project's stacks: those in the backend or, without any, those that have a file.
func stacksOf(f Found, states States) map[string]bool {
	stacks := map[string]bool{}
	for stack := range states[f.Name] {
		stacks[stack] = true
	}
	if len(stacks) == 0 {
		for _, stack := range f.Files {
			stacks[stack] = true
		}
	}
	return stacks
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
