// Package core is the directory for what every root needs: run (plan, executor, events, journal, fingerprints),
// stacks (Pulumi's engine behind the Automation API), state, secrets, project (what a repository declares), operate
// (what up, preview, refresh, drift and destroy do) and screen (the live view and reports).
//
// It knows no cloud, no Kubernetes and no built-in project, and imports core, kube, machine, config and the types of
// projects/model. What stands in feature or cli reaches it as values.
package core
