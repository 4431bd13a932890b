package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"

	"mara/runner/internal/core/updateplan"
)

// A value of the configuration that replaces the cluster of aws: 94 resources have values to compare then.
const replacing = "eks:service_cidr=172.21.0.0/16"

// measureValues measures what it costs that a preview shows values, and that an up compares each project with its
// preview right before it touches it. Both are done in turns with the same without them.
func measureValues(ctx context.Context, o options, w io.Writer) error {
	o.provider = "aws"
	e, err := newEnvironment(o)
	if err != nil {
		return err
	}
	defer e.remove()
	if _, err := timed(e.runner(ctx, "up", "--yes")); err != nil {
		return err
	}
	saved := filepath.Join(e.root, "plan.json")
	preview := func() *exec.Cmd {
		return e.runner(ctx, "preview", "-o", "json", "--config", replacing, "--save-plan", saved)
	}
	previews, err := repeat(ctx, o.rounds, func() (measured, error) { return timed(preview()) })
	if err != nil {
		return err
	}
	resources, took, err := compareValues(saved)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nValues in a preview of aws's %d projects whose cluster is replaced: %d resources compared in %.1f ms, %.2f %% of %s\n",
		len(e.plan.Steps), resources, took.Seconds()*1e3, 100*took.Seconds()/previews.median().Seconds(), seconds(previews.median()))

	ways := []struct {
		letter, name string
		commands     []*exec.Cmd
		times        times
	}{
		{letter: "v", name: "a preview, and an up --force that compares nothing"},
		{letter: "w", name: "an up --force that previews, and compares each project"},
	}
	for round := range o.rounds + 1 {
		ways[0].commands = []*exec.Cmd{e.runner(ctx, "preview"), e.runner(ctx, "up", "--force", "--yes")}
		ways[1].commands = []*exec.Cmd{e.runner(ctx, "up", "--force", "--yes", "--max-monthly", "1e9", "--unknown-costs", "allow")}
		for i := range ways {
			var all measured
			for _, command := range ways[i].commands {
				m, err := timed(command)
				if err != nil {
					return err
				}
				all.wall += m.wall
			}
			if round > 0 { // the first fills caches
				ways[i].times = append(ways[i].times, all)
			}
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  \t\tMEDIAN\tLEAST\tOF\tx/v")
	for _, way := range ways {
		fmt.Fprintf(table, "  (%s)\t%s\t%s\t%s\t%d\t%.2f\n", way.letter, way.name, seconds(way.times.median()), seconds(way.times.least()),
			len(way.times), way.times.median().Seconds()/ways[0].times.median().Seconds())
	}
	return table.Flush()
}

// compareValues compares the values of all resources in a saved plan, as a preview does, and returns how many have some
// and how long that takes.
func compareValues(plan string) (resources int, took time.Duration, err error) {
	document, err := updateplan.Read(plan)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	for _, project := range document.Projects {
		for _, step := range project.Steps {
			if step.Op == "update" || step.Op == "replace" {
				step.Changes()
				resources++
			}
		}
	}
	took = time.Since(began)
	if resources == 0 {
		return 0, 0, fmt.Errorf("the plan changes nothing")
	}
	return resources, took, nil
}
