// Package secrets is the directory for what is encrypted: the vault asks for,
// generates and stores secrets and the passphrase; encryption makes the
// working copies of stack files and encrypts as Pulumi does.
//
// It may import machine, pulumi, run and state.
package secrets
