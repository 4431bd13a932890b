// Package simulation is the directory for simulated clouds: stand-ins for
// resource providers that run below the real engine, and the dry runs that
// let a real cluster judge what they would create.
//
// It may import kube, machine, repo, run and state.
package simulation
