// Package run is the directory for one run of a plan: the plan itself
// (ordered steps and their dependencies), the executor that walks it, the
// events that it emits, the journal that stores them, and the fingerprints
// that decide which steps are skipped. Nothing here knows Pulumi, the
// terminal or the command line.
//
// It may import machine, and of the rest of mara config, projects and
// providers.
package run
