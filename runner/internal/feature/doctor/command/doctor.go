package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/doctor"
	"mara/runner/internal/feature/doctor/check"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/machine/failure"
)

// Doctor returns `runner doctor`.
func Doctor(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "doctor", Aliases: []string{"validate"}, Usage: "check the requirements of an operation",
		ArgsUsage: "[OPERATION]",
		Description: "Checks everything that the provider and the operation (default: up) need: the configuration, " +
			"Pulumi and its plugins, the passphrase, other programs, the cloud account, the backend, locks and " +
			"leftovers of earlier runs. It reports all problems, each with its remedy. It only reads. Operations " +
			"run the same checks before they change anything.\n\n" +
			"Examples:\n  runner doctor -p aws -s dev\n  runner doctor destroy -s dev -o json\n" +
			"  runner doctor up -p kind --simulate\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(cmd.SelectionFlags(), cmd.OutputFlag("text", "json"), cmd.EnvironmentFlags(),
			cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, parseDoctor, runDoctor),
	}
}

type doctorOptions struct {
	doctor.Options
	cmd.Invocation
}

// parseDoctor parses the flags. A broken environment file is one of the problems to report.
func parseDoctor(c *cli.Context, d cmd.Deps) (doctorOptions, error) {
	common, broken, err := cmd.ParseBroken(c, d)
	o := doctorOptions{Options: doctor.Options{Options: common.Options, Broken: broken}, Invocation: common.Invocation}
	o.Operation, o.Selection = operation.Up, cmd.ParseSelection(c)
	if err == nil && len(o.Args) > 0 {
		named, known := operation.Parse(o.Args[0])
		if !known {
			return o, failure.Usagef("doctor", "unknown operation %q%s", o.Args[0],
				config.DidYouMean(o.Args[0], operation.Names()))
		}
		o.Operation = named
	}
	if o.Root != "" && o.Operation.RunsPrograms() {
		look := func(ctx context.Context) []preflight.Finding { return lookAtFiles(ctx, d, o.Options.Options) }
		o.First = []preflight.Check{{Name: "files", Title: "files", Group: preflight.Environment, Look: look}}
	}
	return o, err
}

// lookAtFiles checks the files that all environments share; the doctor looks at those of its environment itself.
func lookAtFiles(ctx context.Context, d cmd.Deps, o session.Options) (found []preflight.Finding) {
	for _, f := range check.Root(ctx, d.Deps, o, nil) {
		status := preflight.Problem
		if f.Doubt {
			status = preflight.Warning
		}
		found = append(found, preflight.Finding{Status: status, Text: f.Problem.String()})
	}
	if len(found) == 0 {
		return preflight.Good("variables, policies, queries and prices are right; `runner check` looks at all environments")
	}
	return found
}

// runDoctor checks everything, and fails if there are problems.
func runDoctor(ctx context.Context, d cmd.Deps, o doctorOptions) (err error) {
	e, err := doctor.Examine(d.Deps, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Session.Close()) }()
	report, err := e.Look(ctx)
	if err != nil {
		return err
	}
	document := preflight.Document{
		Operation: o.Operation, Provider: e.Provider.Name, Stack: e.Session.Settings.Stack.Text, Simulated: o.Simulation.On,
	}
	text := examinationText(e, report, preflight.Style{Width: d.Width(), Colour: o.Color})
	err = o.Show(d, document.Fill(report), text)
	if err == nil && report.Status() == preflight.Problem {
		err = cmd.Exit(cmd.ExitConfig)
	}
	return err
}

// examinationText formats the report for people.
func examinationText(e *doctor.Examination, report preflight.Report, style preflight.Style) string {
	subject := cmp.Or(e.Provider.Name, "no provider")
	if stack := e.Session.Settings.Stack.Text; stack != "" {
		subject = model.Where(subject, stack)
	}
	if e.Options.Simulation.On {
		subject += " [SIMULATED]"
	}
	return fmt.Sprintf("%s: what %s needs\n\n%s", subject, e.Options.Operation, report.Text(style))
}
