package cmd

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/plan"
)

// SelectionFlags are the flags of plan.Selection.
func SelectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "only", Usage: "run only these `PROJECTS`: names, titles or patterns, separated by commas; +NAME adds what it needs, NAME+ what needs it"},
		&cli.StringSliceFlag{Name: "skip", Usage: "skip these `PROJECTS`"},
		&cli.StringSliceFlag{Name: "from", Usage: "skip everything listed before the first of these `PROJECTS`"},
		&cli.StringSliceFlag{Name: "until", Usage: "skip everything listed after the last of these `PROJECTS`"},
	}
}

// ParseSelection reads the flags of plan.Selection.
func ParseSelection(c *cli.Context) plan.Selection {
	return plan.Selection{
		Only: c.StringSlice("only"), Skip: c.StringSlice("skip"), From: c.StringSlice("from"), Until: c.StringSlice("until"),
	}
}
