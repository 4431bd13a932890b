// Package machine is the directory for this computer: files, processes,
// signals, terminals, container runtimes, kind clusters, and the checks that
// look at them before a run. It knows no environment.
//
// It imports no other directory beside it.
package machine
