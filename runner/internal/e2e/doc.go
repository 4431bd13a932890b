// Package e2e tests the built programs as a user runs them: bin/runner with
// the real Pulumi engine and simulated clouds, offline. Every test that
// operates stacks runs twice, with the engine inside and with the stock Pulumi
// CLI. `make test` builds what is needed first.
package e2e
