// Package layout knows where files are: those that the runner keeps below a
// root, and those that Pulumi keeps in the folder of a file backend.
package layout

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Runner is the folder in which the runner keeps its files.
type Runner string

// Of is .runner below a root. Simulations have a folder of their own in it.
func Of(root string, simulated bool) Runner {
	folder := filepath.Join(root, ".runner")
	if simulated {
		folder = filepath.Join(folder, "simulated")
	}
	return Runner(folder)
}

func (r Runner) join(names ...string) string {
	return filepath.Join(append([]string{string(r)}, names...)...)
}

// State is the folder of the state, unless another backend is configured.
func (r Runner) State() State { return State(r.join("state")) }

// Runs is the folder of past runs, each in a folder of its own.
func (r Runner) Runs() string { return r.join("runs") }

// Rollouts is the folder of past operations on the fleet, each in a folder of its
// own as a run has.
func (r Runner) Rollouts() string { return r.join("rollouts") }

// Rolled records what an environment was last brought to.
func (r Runner) Rolled(stack string) string { return r.join("environments", stack+".rolled.json") }

// Work is the folder of working copies.
func (r Runner) Work() string { return r.join("work") }

// Backups is the folder of what a run has changed by repairing it.
func (r Runner) Backups(run string) string { return r.join("backups", run) }

// Lock is the lock of an environment.
func (r Runner) Lock(provider, stack string) string {
	return r.join("locks", provider+"-"+stack+".lock")
}

// LockTerms records which runs had the lock of an environment.
func (r Runner) LockTerms(provider, stack string) string {
	return r.join("terms", provider+"-"+stack+".json")
}

// SecretsLock is the lock of a stack's secrets file.
func (r Runner) SecretsLock(stack string) string { return r.join("locks", "secrets-"+stack+".lock") }

// Salt records the salt of a stack whose stack files have none.
func (r Runner) Salt(stack string) string { return r.join("environments", stack+".yaml") }

// Provider records the provider that a stack was first used with.
func (r Runner) Provider(stack string) string { return r.join("environments", stack+providerEnding) }

// Backend records where a stack was deployed to.
func (r Runner) Backend(stack string) string { return r.join("environments", stack+".backend.yaml") }

const providerEnding = ".provider.yaml"

// Stacks names the stacks whose provider is recorded.
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

// KeyChange records a change of a stack's key provider that has begun.
func (r Runner) KeyChange(stack string) string { return r.join("environments", stack+".change.yaml") }

// Fingerprints is the folder of what the last successes of an environment's
// projects depended on.
func (r Runner) Fingerprints(provider, stack string) string {
	return r.join("fingerprints", provider+"-"+stack)
}

// Secrets is the secrets file of a simulated stack.
func (r Runner) Secrets(stack string) string { return r.join("secrets", "Pulumi."+stack+".yaml") }

// Clouds is the folder of what exists in a stack's simulated clouds.
func (r Runner) Clouds(stack string) string { return r.join("clouds", stack) }

// PulumiHome is Pulumi's own folder in simulations.
func (r Runner) PulumiHome() string { return r.join("pulumi") }

// Git is a folder with a revision of a git repository.
func (r Runner) Git(name string) string { return r.join("git", name) }

// Installed records which dependencies of a project were installed.
func (r Runner) Installed(project string) string { return r.join("installed", project) }

// Charts is the folder of Helm charts that were fetched.
func (r Runner) Charts() string { return r.join("charts") }

// Kubeconfig is the kubeconfig of simulations.
func (r Runner) Kubeconfig() string { return r.join("kubeconfig") }

// IgnoreInGit keeps .runner out of the user's repository. That it cannot be
// written is no reason to stop.
func IgnoreInGit(root string) {
	file := Of(root, false).join(".gitignore")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		_ = os.WriteFile(file, []byte("*\n"), 0o644)
	}
}
