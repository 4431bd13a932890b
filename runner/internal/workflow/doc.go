// Package workflow is the directory for what the commands up, preview, refresh, drift
// and destroy do: on one environment, and on many in waves; what they know of
// unchanged projects, the record of what they have done, and how they pass a run's
// events on.
//
// It may import every directory but cli and testing. Nothing but cli imports it.
package workflow
