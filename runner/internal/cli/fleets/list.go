package fleets

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/typeset"
)

func listCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the environments, with their labels and waves", ArgsUsage: cmd.FleetArguments,
		Description: "Only reads the configuration, and reports all problems in it.\n\n" +
			"Examples:\n  runner fleet list\n  runner fleet list -l stage=prod,region!=us-1\n  runner fleet list 'eu-*' -o " +
			"json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: flags([]cli.Flag{&cli.BoolFlag{Name: "simulate", Category: cmd.CommonCategory,
			Usage: "show the last runs of the simulated environments"}}),
		Action: cmd.Action(d, parse, runList),
	}
}

// line is one environment, and its JSON form.
type line struct {
	Environment string            `json:"environment"`
	Provider    string            `json:"provider,omitempty"`
	Wave        string            `json:"wave,omitempty"` // "" if no wave matches
	Labels      map[string]string `json:"labels"`
	File        string            `json:"file"` // describes the environment
	Last        *cmd.PastRun      `json:"last_run,omitempty"`
	Error       string            `json:"error,omitempty"` // why its files cannot be read
}

func runList(_ context.Context, d cmd.Deps, o options) error {
	view, err := o.View(o.Selection)
	if err != nil {
		return err
	}
	rollout := view.Waves
	last, err := cmd.NewestRuns(o.Directory().Runs())
	if err != nil {
		return err
	}
	lines := []line{}
	for _, e := range view.Chosen {
		l := line{Environment: e.Stack, Provider: e.Provider, Labels: e.Own(), File: e.File}
		if wave, err := rollout.WaveOf(e); err == nil { // fleet check reports environments without a wave
			l.Wave = wave.Name
		}
		if run, ok := last[e.Stack]; ok {
			l.Last = &run
		}
		if err := view.Broken[e.Stack]; err != nil {
			l.Error = err.Error()
		}
		lines = append(lines, l)
	}
	if o.Output == "json" {
		err = cmd.WriteJSON(d.Stdout, lines)
	} else {
		err = writeLines(d.Stdout, d, lines, len(rollout.Waves) > 0)
	}
	if err != nil {
		return err
	}
	return view.Err
}

func writeLines(w io.Writer, d cmd.Deps, lines []line, waves bool) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(w, "no environments yet; describe the first one in config/environments/NAME.yaml")
		return err
	}
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "ENVIRONMENT", Min: 10, Middle: true}, {Title: "PROVIDER"}, {Title: "WAVE"},
		{Title: "LABELS", Min: 10, Wrap: true}, {Title: "LAST RUN", Min: 10},
	}}
	for _, l := range lines {
		wave := cmd.OrDash(l.Wave)
		if waves && l.Wave == "" {
			wave = "none"
		}
		labels := cmd.OrDash(labelText(l.Labels))
		if l.Error != "" {
			wave, labels = "-", "unknown: see below"
		}
		table.Rows = append(table.Rows, []string{l.Environment, cmd.OrDash(l.Provider), wave, labels, l.Last.Words(d.Now())})
	}
	_, err := io.WriteString(w, table.Text(d.Width()))
	return err
}

func labelText(labels map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, name+"="+labels[name])
	}
	return strings.Join(pairs, ",")
}
