// Package resumetest holds together what a disturbed run and the runs that
// carry it on need of each other: the executor's events, the journal that keeps
// them, and the plan without finished projects.
package resumetest
