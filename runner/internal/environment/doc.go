// Package environment is the directory for one environment while it is open:
// the session that opens and closes it, the checks of the doctor, hooks
// around its steps, the working directories of its projects, its locks, and
// what earlier runs left behind.
//
// It may import kube, machine, pulumi, repo, run, secrets, simulation and
// state.
package environment
