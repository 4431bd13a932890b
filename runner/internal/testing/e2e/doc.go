// Package e2e tests the built programs as a user runs them: bin/runner with
// the real Pulumi engine and simulated clouds, offline. Tests run
// with the engine inside; a dozen of them, chosen for how they depend on Pulumi,
// run with the stock Pulumi CLI as well. `make test` builds what is needed first.
package e2e
