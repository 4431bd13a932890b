// Package runs has the commands about past runs: history, show, logs, report and support.
package runs

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/run/journal"
)

// flags returns the flags that choose the runs of a root or a stack.
func flags() []cli.Flag {
	return cmd.JoinFlags(cmd.RootFlags(), []cli.Flag{
		&cli.StringFlag{Name: "stack", Aliases: []string{"s"}, Category: cmd.CommonCategory,
			Usage: "use the stack `NAME` (default: PULUMI_STACK)"},
		&cli.BoolFlag{Name: "simulate", Category: cmd.CommonCategory,
			Usage: "use simulated clouds, whose state is stored in .runner/simulated"},
	})
}

type options struct {
	cmd.Common
	Directory string
}

func parse(_ *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	return options{Common: common, Directory: common.Directory().Runs()}, common.NoRoot
}

// findRun returns the run that the first argument names, or the last run.
func (o options) findRun() (journal.Run, error) {
	id := ""
	if len(o.Args) > 0 {
		id = o.Args[0]
	}
	return journal.Find(o.Directory, id)
}
