package rollout

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
)

func getCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "get", Usage: "show one value in all environments, grouped by value", ArgsUsage: "KEY|OUTPUT [ENVIRONMENT...]",
		Description: "KEY is a configuration key, with a colon; everything else is an output of a deployed project, as " +
			"NAME or as\n" +
			"PROJECT/NAME. If a key is not set, its default is shown. Secrets are never shown.\n\n" +
			"Examples:\n  runner fleet get eks:k8s_version\n  runner fleet get bank-of-anthos/application_url -l " +
			"stage=prod\n  runner fleet get logstore:storage_size -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags([]cli.Flag{cmd.SimulateFlag("show the outputs of the simulated environments")}, cmd.PulumiFlags()),
		Action: cmd.Action(d, parseGet, runGet),
	}
}

func parseGet(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	if c.NArg() == 0 {
		return options{}, failure.Usagef(cmd.Path(c), "which value? name a key or an output")
	}
	chosen, err := cmd.ParseFleet(c, c.Args().Tail())
	return options{Common: common, Name: c.Args().First(), Selection: chosen}, err
}

// shared is a value with the environments that have it, and its JSON form.
type shared struct {
	Value        any      `json:"value"` // null if not set
	Environments []string `json:"environments"`
	Origins      []string `json:"origins,omitempty"` // of a key, without duplicates
	text         string
}

type found struct {
	value  any
	text   string
	origin string
}

func runGet(ctx context.Context, d cmd.Deps, o options) error {
	chosen, _, err := o.Choose(o.Selection)
	if err != nil {
		return err
	}
	values, err := o.values(ctx, d, fleet.Names(chosen))
	if err != nil {
		return err
	}
	groups := grouped(fleet.Names(chosen), values)
	table := typeset.Table{Columns: []typeset.Column{{Title: "VALUE", Min: 12, Wrap: true}, {Title: "COUNT"},
		{Title: "ENVIRONMENTS", Min: 16, Wrap: true}, {Title: "ORIGIN", Optional: true, Wrap: true}}}
	for _, g := range groups {
		table.Rows = append(table.Rows, []string{
			g.text, strconv.Itoa(len(g.Environments)), strings.Join(g.Environments, ", "),
			cmd.OrDash(strings.Join(g.Origins, ", ")),
		})
	}
	return o.Show(d, groups, table.Text(d.Width()))
}

// values returns the value of each environment, in the order of stacks.
func (o options) values(ctx context.Context, d cmd.Deps, stacks []string) ([]found, error) {
	if strings.Contains(o.Name, ":") {
		return parallel.Each(ctx, stacks, func(_ context.Context, stack string) (found, error) { return o.configured(stack) })
	}
	states, err := inventory.StatesOf(ctx, d.Deps, o.Options, stacks)
	if err != nil {
		return nil, err
	}
	project, name, qualified := strings.Cut(o.Name, "/")
	if !qualified {
		project, name = "", o.Name
	} else if known, ok := o.Known().Named(project); ok {
		project = known.Name
	} else {
		return nil, failure.Usagef("fleet get", "no project %q", project)
	}
	values := make([]found, len(stacks))
	for i, stack := range stacks {
		values[i] = found{text: "-"}
		for own, state := range states[stack] {
			contents, err := query.ContentsOf(own, state)
			if err != nil {
				return nil, err
			}
			if value, ok := contents.Outputs[name]; ok && (project == "" || own == project) {
				values[i] = found{value: value, text: typeset.Value(value), origin: own}
			}
		}
	}
	return values, nil
}

// configured returns the value of a key in an environment's configuration.
func (o options) configured(stack string) (found, error) {
	declared := o.DeclaredKeys()
	if wrong := config.Unknown(declared, o.Name); wrong != "" {
		return found{}, &failure.Usage{Text: o.Name + " " + wrong, Next: "`runner config list --all` shows all keys"}
	}
	file, _, err := o.ReadStack(stack)
	if err != nil {
		return found{}, err
	}
	for _, own := range environments.OwnFiles(o.Root, stack, o.Known()) { // it overrides the shared one
		if entry, ok := own.Lookup(o.Name); ok && entry.Value != nil {
			file = own
			break
		}
	}
	if entry, ok := file.Lookup(o.Name); ok && entry.Value != nil {
		value := entry.Value
		if _, isSecret := o.Known().Secret(o.Name); isSecret || projects.CredentialVariable(o.Name) != "" {
			value = config.Ciphertext("hidden")
		}
		origin := file.Origin(entry)
		return found{value: config.Redacted(value, nil), text: view.Show(value),
			origin: fmt.Sprintf("%s:%d", origin.File, origin.Line)}, nil
	}
	key, _ := lists.Find(declared, func(key config.Key) bool { return key.Name == o.Name })
	if key.Default != nil {
		return found{value: key.Default, text: config.Show(key.Default), origin: "default"}, nil
	}
	return found{text: "-"}, nil
}

// grouped groups environments by value, the largest group first.
func grouped(stacks []string, values []found) []shared {
	groups := []shared{}
	for i, v := range values {
		at := slices.IndexFunc(groups, func(g shared) bool { return g.text == v.text })
		if at < 0 {
			at = len(groups)
			groups = append(groups, shared{Value: v.value, text: v.text})
		}
		g := &groups[at]
		g.Environments = append(g.Environments, stacks[i])
		if v.origin != "" && !slices.Contains(g.Origins, v.origin) {
			g.Origins = append(g.Origins, v.origin)
		}
	}
	slices.SortStableFunc(groups, func(a, b shared) int { return len(b.Environments) - len(a.Environments) })
	return groups
}
