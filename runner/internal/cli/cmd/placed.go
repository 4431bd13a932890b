package cmd

import (
	"cmp"
	"slices"

	"github.com/urfave/cli/v2"
)

// Group is a heading of the program's help.
type Group int

// The headings, in their order.
const (
	ToBegin Group = iota
	OneEnvironment
	AllEnvironments
	PastRuns
	ForOthers
	More
)

// Groups returns all headings.
func Groups() []Group {
	return []Group{ToBegin, OneEnvironment, AllEnvironments, PastRuns, ForOthers, More}
}

// String returns the text of the heading.
func (g Group) String() string {
	return []string{
		"To begin with", "One environment", "All environments", "Runs and their failures",
		"For others to run, and without internet", "More",
	}[g]
}

// Placed is a command with its place in the program's help: a heading, and a rank below it. Ranks are tens, so that
// another command finds a place between two.
type Placed struct {
	*cli.Command
	Group Group
	Rank  int
	Daily bool // on the first page of the help; the others are behind `help --all`
}

// Sort returns commands in the order of the help.
func Sort(all []Placed) []Placed {
	return slices.SortedStableFunc(slices.Values(all), func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Rank, b.Rank))
	})
}
