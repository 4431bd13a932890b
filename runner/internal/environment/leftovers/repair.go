package leftovers

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"mara/runner/internal/machine/failure"
	"mara/runner/internal/pulumi/stacks"
)

// Unlock removes locks the way Pulumi does. It returns the projects that it has
// unlocked, also with an error.
func (f Finder) Unlock(ctx context.Context, locks []Lock) ([]string, error) {
	unlocked := []string{}
	for _, l := range locks {
		if slices.Contains(unlocked, l.Project) {
			continue
		}
		if err := f.Stacks.Cancel(ctx, l.Project); err != nil {
			return unlocked, err
		}
		unlocked = append(unlocked, l.Project)
	}
	return unlocked, nil
}

// Adopt takes resources into the state that exist with these ids, by URN, and
// forgets the creation of those whose id is empty.
func (f Finder) Adopt(ctx context.Context, pending []stacks.Pending, ids map[string]string) error {
	identified, _ := split(pending, func(p stacks.Pending) bool { _, ok := ids[p.URN]; return ok })
	for _, project := range Projects(identified) {
		if err := f.Stacks.Adopt(ctx, project, ids); err != nil {
			return err
		}
	}
	return nil
}

// Projects names the projects that operations belong to, each once. Those of one
// project follow one another.
func Projects(pending []stacks.Pending) []string {
	var names []string
	for _, p := range pending {
		names = append(names, p.Project)
	}
	return slices.Compact(names)
}

// BackUp exports the states of projects to a directory.
func (f Finder) BackUp(ctx context.Context, projects []string, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failure.RunnerDir(err)
	}
	for _, project := range projects {
		content, err := f.Stacks.Export(ctx, project)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, project+".json"), content, 0o600); err != nil {
			return failure.RunnerDir(err)
		}
	}
	return nil
}
