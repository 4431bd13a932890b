//go:build !linux

package main

// withoutOverride starts a process.
func withoutOverride(start func() error) error { return start() }
