// Package runs has the commands about past runs: history, show, logs, report and support.
package runs

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/journal"
)

// flags choose a folder of runs, and those of one stack.
func flags() []cli.Flag {
	return cmd.JoinFlags(cmd.RootFlags(), []cli.Flag{
		&cli.StringFlag{Name: "stack", Aliases: []string{"s"}, Category: cmd.CommonCategory, Usage: "use the stack `NAME` (default: PULUMI_STACK)"},
		&cli.BoolFlag{Name: "simulate", Category: cmd.CommonCategory, Usage: "use simulated clouds; everything about them is kept under .runner/simulated"},
	})
}

type options struct {
	cmd.Common
	Folder string
}

func parse(_ *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	return options{Common: common, Folder: common.Folder().Runs()}, common.NoRoot
}

// findRun is the run that the first argument names, the last one without it.
func (o options) findRun() (journal.Run, error) {
	id := ""
	if len(o.Args) > 0 {
		id = o.Args[0]
	}
	return journal.Find(o.Folder, id)
}
