// Package state is the directory for the files of an environment's states:
// reading, repairing and protecting them, the locks that keep other runs out,
// and the scope that decides which stacks belong to an environment.
//
// It may import machine.
package state
