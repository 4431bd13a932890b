// Package repo is the directory for what a repository says: which projects it
// has, their configuration and layers, what comes from git, which
// environments exist and which one a command asks for. Reading it never
// writes and never runs a program.
//
// It may import machine and run.
package repo
