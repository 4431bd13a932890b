package layout

import "path/filepath"

// State is the directory of a file backend.
type State string

// Pulumi returns the path of names in the directory that Pulumi makes.
func (s State) Pulumi(names ...string) string {
	return filepath.Join(append([]string{string(s), ".pulumi"}, names...)...)
}

// Stacks returns the directory with the states of all projects.
func (s State) Stacks() string { return s.Pulumi("stacks") }

// Stack returns the file with the state of a project.
func (s State) Stack(project, stack string) string {
	return s.Pulumi("stacks", project, stack+".json")
}

// Locks returns the directory with the locks of stacks, which are in directories of their
// own: PROJECT/STACK. In a bucket State is "".
func (s State) Locks() string { return s.Pulumi("locks", "organization") }

// History returns the directory with the update history of a project's stack.
func (s State) History(project, stack string) string { return s.Pulumi("history", project, stack) }

// Backups returns the directory with earlier states of a project.
func (s State) Backups(project string) string { return s.Pulumi("backups", project) }
