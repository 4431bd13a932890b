// Package workflow is the directory for what the commands up, preview, refresh, drift
// and destroy do: on one environment, and on many in waves; what they know of
// unchanged projects, the record of what they have done, how they pass a run's
// events on, and what is known of all environments.
//
// It may import every directory but cli, web and testing. Nothing but cli and web
// imports it.
package workflow
