// Package model says what a Pulumi project is: its name, directory,
// configuration, secrets, outputs and hooks, and what the infrastructure below
// it has of its own. Built-in projects and those of users are values of the same
// types. The package holds types and rules about their values only: which
// projects there are is up to package projects, the catalogue, and to
// mara.yaml. It imports config and nothing else of ours.
package model
