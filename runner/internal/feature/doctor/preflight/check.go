// Package preflight checks, before the first change, what a provider and an
// operation need, and says how to fix what is missing.
//
// A Check looks at one thing and only reads. Run runs many of them concurrently,
// each for a bounded time, and a Report holds their findings, in order. What is
// known to be wrong is a problem; what could not be determined, or is optional, is a
// warning.
//
// Package providers holds, as data, which checks a provider needs for which
// operations: it names them, and ForProvider makes them here. To add one, write a
// function that returns a Check, list it in the table of named.go, and name it in
// providers.
package preflight

import (
	"context"
	"time"
)

// Status is the result of a check.
type Status string

// The statuses, from good to bad.
const (
	OK      Status = "ok"
	Skipped Status = "skipped" // because something else is wrong
	Warning Status = "warning"
	Problem Status = "problem"
)

// Statuses lists the statuses, from good to bad.
func Statuses() []Status { return []Status{OK, Skipped, Warning, Problem} }

// Group is the area that a check looks at.
type Group string

// The groups.
const (
	Environment Group = "environment" // the user's files and their values
	Engine      Group = "engine"      // Pulumi, its plugins, the passphrase
	Tools       Group = "tools"       // other programs on this machine
	Cloud       Group = "cloud"       // accounts
	State       Group = "state"       // the backend, and leftovers of earlier runs
)

// Groups lists the groups in the order in which they are shown.
func Groups() []Group { return []Group{Environment, Engine, Tools, Cloud, State} }

// Finding is one result of a check.
type Finding struct {
	Status Status `json:"status"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"` // how to fix it
	Table  string `json:"table,omitempty"`  // lines that belong to the text

	// IfAbsent names a project: the finding holds only if the environment has no state of it. See Report.Settled.
	IfAbsent string `json:"-"`
}

// Look looks at one thing. It returns when ctx ends.
type Look func(ctx context.Context) []Finding

// Check checks one thing.
type Check struct {
	Name  string // "docker"
	Title string // "Docker"
	Group Group
	// Limit bounds the check; DefaultLimit if it is 0.
	Limit time.Duration
	Look  Look
}

// DefaultLimit bounds a check without a limit.
const DefaultLimit = 5 * time.Second

// Good returns a finding with the status OK.
func Good(text string) []Finding { return []Finding{{Status: OK, Text: text}} }

// Bad returns the finding of a problem that must be fixed first.
func Bad(text, remedy string) []Finding {
	return []Finding{{Status: Problem, Text: text, Remedy: remedy}}
}

// Doubtful returns a warning about something that may fail, or could not be
// determined.
func Doubtful(text, remedy string) []Finding {
	return []Finding{{Status: Warning, Text: text, Remedy: remedy}}
}

// Unseen returns the finding of a check that was skipped.
func Unseen(because string) []Finding { return []Finding{{Status: Skipped, Text: because}} }

// Optional turns the problems of a check into warnings.
func Optional(c Check) Check {
	look := c.Look
	c.Look = func(ctx context.Context) []Finding {
		findings := look(ctx)
		for i := range findings {
			if findings[i].Status == Problem {
				findings[i].Status = Warning
			}
		}
		return findings
	}
	return c
}
