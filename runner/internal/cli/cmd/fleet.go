package cmd

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/failure"
	"mara/runner/internal/fleet"
)

// FleetFlags choose environments of a fleet.
func FleetFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "selector", Aliases: []string{"l"}, Usage: "choose the environments whose labels match `SELECTOR`, as kubectl takes it: stage=prod,region!=us-1"},
		&cli.BoolFlag{Name: "all", Usage: "choose all environments"},
	}
}

// FleetArguments is the usage of the arguments that name environments.
const FleetArguments = "[ENVIRONMENT...]"

// ParseFleet reads which environments are chosen.
func ParseFleet(c *cli.Context) (fleet.Selection, error) {
	s := fleet.Selection{Names: c.Args().Slice(), Labels: c.String("selector"), All: c.Bool("all")}
	if s.All && (len(s.Names) > 0 || s.Labels != "") {
		return s, failure.Usagef(Path(c), "--all chooses every environment; leave it out to choose by names or labels")
	}
	return s, nil
}
