package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/identity"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
)

// Outputs returns `runner outputs`.
func Outputs(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "outputs", Usage: "show the outputs of the projects", ArgsUsage: "[PROJECT [KEY]]",
		Description: "Shows the outputs of all projects or of PROJECT. With KEY, it prints only the value, for " +
			"scripts. Secret values are shown as [secret] unless --show-secrets is given.\n\n" +
			"Examples:\n  runner outputs -s dev\n  runner outputs bank-of-anthos application_url\n" +
			"  runner outputs -s dev --show-secrets -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag("text", "json"),
			[]cli.Flag{&cli.BoolFlag{Name: "show-secrets", Usage: "print secret values in plain text"}},
			cmd.EnvironmentFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parse, cmd.InSession(session.Resolve, runOutputs)),
	}
}

func runOutputs(ctx context.Context, d cmd.Deps, o options, s *session.Resolved) error {
	names, err := namesOf(s, &o)
	if err != nil {
		return err
	}
	open, err := s.Reveal(ctx)
	if err != nil {
		return err
	}
	identity.WarnOfBackend(ctx, open)
	if err := identity.CheckKnown(open); err != nil {
		return err
	}
	outputs, err := outputs(ctx, open, names, o.Secrets)
	if err != nil {
		return err
	}
	switch {
	case o.Key != "":
		return writeOutput(d, outputs[o.Project], o)
	case o.Output == "json" && len(outputs) == 0:
		return cmd.WriteJSON(d.Stdout, map[string]any{})
	case o.Output == "json" && o.Project != "":
		return cmd.WriteJSON(d.Stdout, outputs[o.Project])
	case o.Output == "json":
		return cmd.WriteJSON(d.Stdout, outputs)
	}
	if o.Simulation.On {
		fmt.Fprintf(d.Stdout, "[SIMULATED] %s\n\n", model.Where(s.Provider.Name, s.Settings.Stack.Text))
	}
	return writeOutputs(d, names, outputs)
}

// namesOf returns the projects to show. A title or a directory in the
// options is replaced by the name of its project.
func namesOf(s *session.Resolved, o *options) ([]string, error) {
	names := s.Plan.Names()
	if o.Project != "" {
		project, err := s.Plan.Project(o.Project)
		if err != nil {
			return nil, err
		}
		o.Project, names = project.Name, []string{project.Name}
	}
	return names, nil
}

func outputs(ctx context.Context, s *session.Reading, names []string, secrets bool) (map[string]map[string]any, error) {
	found, err := parallel.Each(ctx, names, func(ctx context.Context, name string) (map[string]any, error) {
		return s.Stacks.Outputs(ctx, name, secrets)
	})
	if err != nil {
		return nil, err
	}
	outputs := map[string]map[string]any{}
	for i, name := range names {
		if len(found[i]) > 0 {
			outputs[name] = found[i]
		}
	}
	return outputs, nil
}

func writeOutput(d cmd.Deps, outputs map[string]any, o options) error {
	value, ok := outputs[o.Key]
	if !ok {
		known := lists.Keys(outputs)
		if len(known) == 0 {
			return fmt.Errorf("%s has no outputs: it is not deployed", o.Project)
		}
		return fmt.Errorf("%s has no output %q among %s%s", o.Project, o.Key, strings.Join(known, ", "),
			config.DidYouMean(o.Key, known))
	}
	return o.Show(d, value, typeset.Value(value)+"\n")
}

func writeOutputs(d cmd.Deps, names []string, outputs map[string]map[string]any) error {
	if len(outputs) == 0 {
		return d.Print("no outputs: nothing is deployed\n")
	}
	var b strings.Builder
	for _, name := range names {
		if len(outputs[name]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n", name)
		for _, key := range lists.Keys(outputs[name]) {
			text := strings.ReplaceAll(strings.TrimRight(typeset.Value(outputs[name][key]), "\n"), "\n", "\n      ")
			fmt.Fprintf(&b, "  %s: %s\n", key, text)
		}
	}
	return d.Print(b.String())
}
