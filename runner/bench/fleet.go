package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"mara/runner/internal/machine/atomicfile"
)

// regions are how many layers of regions a fleet has.
const regions = 8

// fleetCall is a command on a fleet, and how long it may take for 80
// environments.
type fleetCall struct {
	name   string
	args   []string
	rounds int
	goal   time.Duration // 0 is none
}

// measureFleet measures commands on many environments of one root, and on a part
// of them, so that the growth can be seen.
func measureFleet(ctx context.Context, o options, w io.Writer) error {
	e := &environment{options: o}
	var err error
	if e.root, err = os.MkdirTemp("", "bench-*"); err != nil {
		return err
	}
	defer e.remove()
	if err := e.writeFleet(o.environments); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nA fleet of %d environments of %s, simulated\n", o.environments, o.provider)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  \tENVIRONMENTS\tMEDIAN\tEACH\tGOAL FOR 80\tPROCESSOR\tEACH\tMEMORY")
	up := []string{"fleet", "up", "--yes", "-o", "json"}
	for _, call := range []fleetCall{
		{"first up", up, 0, 0},
		{"check", []string{"check"}, o.rounds, 2 * time.Second},
		{"fleet plan --affected", []string{"fleet", "plan", "--affected"}, o.rounds, 5 * time.Second},
		{"up, unchanged", up, 2, 30 * time.Second},
		{"up --force", append(up[:len(up):len(up)], "--force"), 1, 150 * time.Second},
	} {
		for _, part := range e.parts(call) {
			if err := e.measureCall(ctx, table, call, part); err != nil {
				return err
			}
		}
	}
	return table.Flush()
}

// fleetPart is a choice of environments.
type fleetPart struct {
	chosen       []string // arguments
	environments int
}

// parts returns an eighth of the environments, and all; if every project runs, also a quarter
// and a half, to show the growth. The first up is measured once.
func (e *environment) parts(call fleetCall) []fleetPart {
	all := fleetPart{[]string{"--all"}, e.environments}
	shares := []int{1}
	switch {
	case call.rounds == 0 || e.environments < regions:
		shares = nil
	case call.rounds == 1:
		shares = []int{1, 2, 4}
	}
	var parts []fleetPart
	for _, share := range shares {
		var names []string
		for i := range share {
			names = append(names, fmt.Sprintf("r%d", i))
		}
		part := fleetPart{chosen: []string{"-l", "region in (" + strings.Join(names, ",") + ")"}}
		for i := range e.environments {
			if i%regions < share {
				part.environments++
			}
		}
		parts = append(parts, part)
	}
	return append(parts, all)
}

func (e *environment) measureCall(ctx context.Context, table io.Writer, call fleetCall, part fleetPart) error {
	command := func() *exec.Cmd {
		cmd := e.runner(ctx, append(append([]string{}, call.args...), part.chosen...)...)
		if call.args[1] == "check" || call.args[1] == "plan" { // they take none of the flags of a simulation
			cmd.Args = cmd.Args[:len(cmd.Args)-2]
		}
		return cmd
	}
	memory := watchMemory()
	first, err := timed(command()) // what repeat throws away
	peak := memory()
	median, processor := first.wall, first.cpu
	if err == nil && call.rounds > 0 {
		var all times
		all, err = repeat(ctx, max(0, call.rounds-1), func() (measured, error) { return timed(command()) })
		if len(all) > 0 {
			median, processor = all.median(), all[len(all)/2].cpu
		}
	}
	if err != nil {
		return err
	}
	goal := "-"
	if call.goal > 0 {
		goal = "<= " + seconds(call.goal)
	}
	fmt.Fprintf(table, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", call.name, part.environments, seconds(median),
		seconds(median/time.Duration(part.environments)), goal,
		seconds(processor), seconds(processor/time.Duration(part.environments)), megabytes(peak))
	return nil
}

// writeFleet describes so many environments, in layers.
func (e *environment) writeFleet(environments int) error {
	files := map[string]string{
		"layers/base.yaml": "values:\n  runner: {provider: " + e.provider + "}\n" +
			"  pulumiConfig: {\"logstore:storage_size\": 20Gi}\n",
		// A program that has to ask for its zones would always run.
		"layers/stage.yaml": "imports: [base]\nvalues:\n  runner: {labels: {stage: prod}}\n" +
			"  pulumiConfig: {\"logstore:replicas\": 2, " +
			"\"aws:region\": us-east-1, \"vpc:azs\": [us-east-1a, us-east-1b, us-east-1c]}\n",
	}
	for i := range regions {
		files[fmt.Sprintf("layers/region/r%d.yaml", i)] = fmt.Sprintf("values: {runner: {labels: {region: r%d}}}\n", i)
	}
	for i := range environments {
		files[fmt.Sprintf("environments/env-%03d.yaml", i)] = fmt.Sprintf("imports: [stage, region/r%d]\n", i%regions)
	}
	for name, content := range files {
		if err := atomicfile.WriteDeep(filepath.Join(e.root, "config", name), []byte(content), 0o644, 0o755); err != nil {
			return err
		}
	}
	return nil
}
