// Package output is the directory for what users and programs see of a run,
// all made from its events: the live view, reports, SARIF, traces, and the
// schemas of documents.
//
// It may import machine and run.
package output
