package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mara/runner/internal/lock"
	"mara/runner/internal/stacks"
)

// Unlocked is what was unlocked.
type Unlocked struct {
	Projects    []string `json:"projects"`
	Environment bool     `json:"environment"` // the runner's own lock
}

// Unlock removes the locks. What Pulumi has locked it has to unlock itself.
func (s *Session) Unlock(ctx context.Context, locks []LeftLock) (Unlocked, error) {
	done := Unlocked{Projects: []string{}}
	for _, l := range locks {
		if slices.Contains(done.Projects, l.Project) {
			continue
		}
		if err := s.Stacks.Cancel(ctx, l.Project); err != nil {
			return done, err
		}
		done.Projects = append(done.Projects, l.Project)
	}
	owner, err := lock.Break(s.LockFile())
	done.Environment = err == nil && owner != (lock.Owner{})
	return done, err
}

// Adopt takes resources into the state that exist with these ids, and forgets
// the creation of those whose id is empty.
func (s *Session) Adopt(ctx context.Context, pending []stacks.Pending, ids map[string]string) error {
	existing := slices.DeleteFunc(slices.Clone(pending), func(p stacks.Pending) bool { _, told := ids[p.URN]; return !told })
	for _, project := range ProjectsOf(existing) {
		if err := s.Stacks.Adopt(ctx, project, ids); err != nil {
			return err
		}
	}
	return nil
}

// ProjectsOf names the projects that operations belong to, each once.
func ProjectsOf(pending []stacks.Pending) []string {
	var names []string
	for _, p := range pending {
		if !slices.Contains(names, p.Project) {
			names = append(names, p.Project)
		}
	}
	return names
}

// BackUp exports the state of projects.
func (s *Session) BackUp(ctx context.Context, projects []string) error {
	folder := s.Folder.Backups(s.RunID)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return s.FolderError(err)
	}
	for _, project := range projects {
		content, err := s.Stacks.Export(ctx, project)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, project+".json"), content, 0o600); err != nil {
			return s.FolderError(err)
		}
	}
	fmt.Fprintf(s.deps.Stderr, "the state as it was is in %s\n", folder)
	return nil
}
