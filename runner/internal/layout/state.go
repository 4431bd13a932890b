package layout

import "path/filepath"

// State is the folder of a file backend.
type State string

// Pulumi is the folder that Pulumi makes in it.
func (s State) Pulumi(names ...string) string {
	return filepath.Join(append([]string{string(s), ".pulumi"}, names...)...)
}

// Stacks is the folder with the states of all projects.
func (s State) Stacks() string { return s.Pulumi("stacks") }

// Stack is the file with the state of a project.
func (s State) Stack(project, stack string) string {
	return s.Pulumi("stacks", project, stack+".json")
}

// Locks is the folder of the locks on stacks, which have folders of their own in
// it: PROJECT/STACK. In a bucket State is "".
func (s State) Locks() string { return s.Pulumi("locks", "organization") }

// History is the folder of what was done to a project's stack.
func (s State) History(project, stack string) string { return s.Pulumi("history", project, stack) }

// Backups is the folder of earlier states of a project.
func (s State) Backups(project string) string { return s.Pulumi("backups", project) }
