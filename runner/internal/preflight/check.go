// Package preflight looks, before the first change, whether everything is there
// that a provider and an operation need, and says what to do about what is not.
//
// A Check looks at one thing and only reads. Run has many of them look at once,
// each for a bounded time, and a Report holds what they found, in order. What
// is known to be wrong is a problem; what could not be found out, or is only
// nice to have, is a warning.
//
// Which checks a provider needs, and for which operations, is data in package
// providers: it names them, and ForProvider makes them here. To add one, write
// a function that returns a Look, list it in the table of named.go, and name it in
// providers.
package preflight

import (
	"context"
	"time"
)

// Status is what a check makes of what it saw.
type Status string

// The statuses, from good to bad.
const (
	OK      Status = "ok"
	Skipped Status = "skipped" // not looked at, because something else is wrong
	Warning Status = "warning"
	Problem Status = "problem"
)

// Statuses lists the statuses, from good to bad.
func Statuses() []Status { return []Status{OK, Skipped, Warning, Problem} }

// Group is the part of the world that a check looks at.
type Group string

// The groups.
const (
	Environment Group = "environment" // the user's files and what they say
	Engine      Group = "engine"      // Pulumi, its plugins, the passphrase
	Tools       Group = "tools"       // other programs on this machine
	Cloud       Group = "cloud"       // accounts
	State       Group = "state"       // where state is kept, and what earlier runs have left there
)

// Groups lists the groups in the order in which they are shown.
func Groups() []Group { return []Group{Environment, Engine, Tools, Cloud, State} }

// Finding is one thing that a check found.
type Finding struct {
	Status Status `json:"status"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"` // what to do about it
}

// Look looks at one thing. It returns when ctx ends.
type Look func(ctx context.Context) []Finding

// Check is something to look at.
type Check struct {
	Name  string // "docker"
	Title string // "Docker"
	Group Group
	// Limit is how long it may take; DefaultLimit when it is 0.
	Limit time.Duration
	Look  Look
}

// DefaultLimit bounds a check that has no limit of its own.
const DefaultLimit = 5 * time.Second

// Good is the finding of something that is as it should be.
func Good(text string) []Finding { return []Finding{{Status: OK, Text: text}} }

// Bad is the finding of something that has to be put right first.
func Bad(text, remedy string) []Finding { return []Finding{{Problem, text, remedy}} }

// Doubtful is the finding of something that may go wrong, or could not be found
// out.
func Doubtful(text, remedy string) []Finding { return []Finding{{Warning, text, remedy}} }

// Unseen is the finding of something that could not be looked at.
func Unseen(because string) []Finding { return []Finding{{Status: Skipped, Text: because}} }

// Optional is a check of something that is nice to have: its problems are
// warnings.
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
