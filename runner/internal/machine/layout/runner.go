// Package layout returns the paths of files: the runner's own below a root, and
// Pulumi's in the directory of a file backend.
package layout

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mara/runner/internal/machine/failure"
)

// Runner is the directory in which the runner keeps its files.
type Runner string

// Of returns .runner below a root, or the directory of simulations in it.
func Of(root string, simulated bool) Runner {
	dir := filepath.Join(root, ".runner")
	if simulated {
		dir = filepath.Join(dir, "simulated")
	}
	return Runner(dir)
}

func (r Runner) join(names ...string) string {
	return filepath.Join(append([]string{string(r)}, names...)...)
}

// State returns the directory of the states, unless another backend is configured.
func (r Runner) State() State { return State(r.join("state")) }

// Runs returns the directory of past runs, which have one directory each.
func (r Runner) Runs() string { return r.join("runs") }

// Rollouts returns the directory of past operations on the fleet, which have one
// directory each.
func (r Runner) Rollouts() string { return r.join("rollouts") }

// Rolled returns the record of the last rollout of an environment.
func (r Runner) Rolled(stack string) string { return r.join("environments", stack+".rolled.json") }

// Gates returns the file with the gates that the wave of an environment has passed.
func (r Runner) Gates(stack string) string { return r.join("environments", stack+".gates.json") }

// Drift returns the result of the last comparison of an environment with its cloud.
func (r Runner) Drift(stack string) string { return r.join("environments", stack+".drift.json") }

// Work returns the directory of working copies.
func (r Runner) Work() string { return r.join("work") }

// Backups returns the directory with the backups of files that a run has repaired.
func (r Runner) Backups(run string) string { return r.join("backups", run) }

// Lock returns the lock file of an environment.
func (r Runner) Lock(provider, stack string) string {
	return r.join("locks", provider+"-"+stack+".lock")
}

// LockTerms returns the record of the runs that had the lock of an environment.
func (r Runner) LockTerms(provider, stack string) string {
	return r.join("terms", provider+"-"+stack+".json")
}

// Updates returns the directory in which is written down which updates of Pulumi Cloud a run of an environment has begun.
func (r Runner) Updates(provider, stack string) string { return r.join("updates", provider+"-"+stack) }

// SecretsLock returns the lock file of a stack's secrets file.
func (r Runner) SecretsLock(stack string) string { return r.join("locks", "secrets-"+stack+".lock") }

// Salt returns the file with the salt of a stack whose stack files have none.
func (r Runner) Salt(stack string) string { return r.join("environments", stack+".yaml") }

// Keys returns the record of the keys that stack files next to projects have.
func (r Runner) Keys(stack string) string { return r.join("environments", stack+keysEnding) }

// Provider returns the record of the provider that a stack was first used with.
func (r Runner) Provider(stack string) string { return r.join("environments", stack+providerEnding) }

// Backend returns the record of the backend that a stack was deployed to.
func (r Runner) Backend(stack string) string { return r.join("environments", stack+".backend.yaml") }

const (
	providerEnding = ".provider.yaml"
	keysEnding     = ".keys.yaml"
)

// Stacks lists the stacks whose provider is recorded.
func (r Runner) Stacks() ([]string, error) {
	entries, err := os.ReadDir(r.join("environments"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if name, isRecord := strings.CutSuffix(entry.Name(), providerEnding); isRecord {
			names = append(names, name)
		}
	}
	return names, nil
}

// KeyChange returns the record of an unfinished change of a stack's key provider.
func (r Runner) KeyChange(stack string) string { return r.join("environments", stack+".change.yaml") }

// Fingerprints returns the directory with the fingerprints of an environment's
// projects after their last success.
func (r Runner) Fingerprints(provider, stack string) string {
	return r.join("fingerprints", provider+"-"+stack)
}

// Secrets returns the secrets file of a simulated stack.
func (r Runner) Secrets(stack string) string { return r.join("secrets", "Pulumi."+stack+".yaml") }

// Clouds returns the directory with the resources of a stack's simulated clouds.
func (r Runner) Clouds(stack string) string { return r.join("clouds", stack) }

// PulumiHome returns Pulumi's home directory in simulations.
func (r Runner) PulumiHome() string { return r.join("pulumi") }

// Git returns the directory with a revision of a git repository.
func (r Runner) Git(name string) string { return r.join("git", name) }

// Installed returns the record of a project's installed dependencies.
func (r Runner) Installed(project string) string { return r.join("installed", project) }

// NodeCache returns the directory in which Node.js keeps what it has compiled of the programs of all projects.
func (r Runner) NodeCache() string { return r.join("node") }

// Application returns the directory with the program of an application in mara.yaml.
func (r Runner) Application(name string) string { return r.join("applications", name) }

// Charts returns the cache of Helm charts.
func (r Runner) Charts() string { return r.join("charts") }

// Kubeconfig returns the kubeconfig of simulations.
func (r Runner) Kubeconfig() string { return r.join("kubeconfig") }

// IgnoreInGit writes a .gitignore that keeps .runner out of the user's repository.
// It ignores errors.
func IgnoreInGit(root string) {
	file := Of(root, false).join(".gitignore")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		_ = os.WriteFile(file, []byte("*\n"), 0o644)
	}
}

// CheckLinks returns an error if a directory that the runner writes to is a symbolic
// link that leads out of the root. A repository can contain such links.
func CheckLinks(root string) error {
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil // the code that reads the root reports it
	}
	below := strings.TrimSuffix(resolved, string(filepath.Separator)) + string(filepath.Separator)
	for _, name := range []string{
		"config", "config/pulumi", "config/pulumi/secrets", "config/environments", "config/layers",
		".runner", ".runner/state", ".runner/simulated",
	} {
		target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || target == resolved || strings.HasPrefix(target, below) {
			continue // it is missing, or below the root
		}
		return &failure.Environment{
			Text: name + " is a link to " + target +
				", which is not below the root, and the runner would write there",
			Next: "make it a directory; states can be elsewhere with PULUMI_BACKEND_URL",
		}
	}
	return nil
}

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

// Journals returns the directory with the journals of a stack, each in a directory of its own, as mara-engine keeps them.
func (s State) Journals(project, stack string) string {
	return s.Pulumi("mara-journal", project, stack)
}

// Backups returns the directory with earlier states of a project.
func (s State) Backups(project string) string { return s.Pulumi("backups", project) }
