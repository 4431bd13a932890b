// Package model has the types of the catalogue: a Pulumi project with its
// configuration, secrets, outputs and hooks, and a provider with the projects,
// checks and questions of its environments. What comes with the runner and what
// mara.yaml adds are values of the same types. The package holds types and rules
// about their values only: package projects has the built-in projects, package
// providers the built-in providers. It imports config and nothing else of ours.
package model
