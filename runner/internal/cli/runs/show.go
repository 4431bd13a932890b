package runs

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/output/ui"
	"mara/runner/internal/run/event"
)

// Show returns `runner show`.
func Show(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show a past run", ArgsUsage: "[RUN]",
		Description: "Prints the events and summary of RUN, or of the last run. A prefix of the ID is enough. -o json " +
			"prints the\n" +
			"events as JSON.\n\nExample:\n  runner show 20261120-19\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("text", "json"), flags(), cmd.BaseFlags()),
		Action: cmd.Action(d, parse, runShow),
	}
}

func runShow(_ context.Context, d cmd.Deps, o options) error {
	run, err := o.findRun()
	if err != nil {
		return err
	}
	var show ui.Screen = ui.NewPlain(d.Stdout, ui.Options{Width: d.Width(), Colour: o.Color})
	if o.Output == "json" {
		show = ui.NewJSON(d.Stdout)
	}
	for e, err := range run.Events() {
		if errors.Is(err, event.ErrTruncated) {
			break // the run was interrupted, or still runs
		}
		if err != nil {
			return err
		}
		show.Emit(e)
	}
	return show.Close()
}
