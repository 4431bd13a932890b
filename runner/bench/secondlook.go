package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// lookedAt is a protected environment of two projects in YAML, and a way in which its
// reader is previewed before an up.
type lookedAt struct {
	letter, name string
	output       string // that the owner exports besides its name
	looks        int    // how often the reader is previewed again
	times        times
	*environment
}

// measureSecondLook compares ups, in turns, that do the same: replace a network and
// update the 30 resources of its reader. In one of them the reader is previewed a second
// time, because the first preview did not know the ID of the network.
func measureSecondLook(ctx context.Context, o options, w io.Writer) (err error) {
	ways := []*lookedAt{
		{letter: "q", name: "all outputs known", looks: 0},
		{letter: "r", name: "an output not known, so a second look", output: ", id: '${vpc.id}'", looks: 1},
	}
	for _, way := range ways {
		if way.environment, err = newLookedAt(o, way.output); err != nil {
			return err
		}
		defer way.remove()
	}
	for round := range o.rounds + 2 {
		for _, way := range ways {
			m, err := way.up(ctx, round)
			if err != nil {
				return err
			}
			if round > 1 { // the first creates everything, the second fills caches
				way.times = append(way.times, m)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	fmt.Fprintf(w, "\nUp of two protected projects, preview included; one with %d resources reads the other\n", resources)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  \t\tSECOND LOOKS\tMEDIAN\tLEAST\tOF\tx/q")
	for _, way := range ways {
		median := way.times.median()
		fmt.Fprintf(table, "  (%s)\t%s\t%d\t%s\t%s\t%d\t%.2f\n", way.letter, way.name, way.looks,
			seconds(median), seconds(way.times.least()), len(way.times), median.Seconds()/ways[0].times.median().Seconds())
	}
	return table.Flush()
}

// newLookedAt writes the projects and their configuration.
func newLookedAt(o options, output string) (*environment, error) {
	root, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return nil, err
	}
	e := &environment{options: o, root: root}
	owner := "name: base\nruntime: yaml\nconfig: {range: {type: string, default: 10.0.0.0/16}}\n" +
		"resources: {vpc: {type: 'aws:ec2:Vpc', properties: {cidrBlock: '${range}'}}}\n" +
		"outputs: {name: 'base ${range}'" + output + "}\n"
	for path, content := range map[string]string{
		"mara.yaml":                               "projects:\n  - path: base\n  - {path: reader, reads: base}\n",
		"base/Pulumi.yaml":                        owner,
		"reader/Pulumi.yaml":                      readerProgram(),
		"config/pulumi/environment":               "PULUMI_STACK=" + stack + "\n",
		"config/pulumi/Pulumi." + stack + ".yaml": "config:\n  runner:protect: true\n",
	} {
		if err := writeFile(filepath.Join(root, path), content); err != nil {
			e.remove()
			return nil, err
		}
	}
	return e, nil
}

// up gives the network another range, and checks how often the reader is previewed again.
func (l *lookedAt) up(ctx context.Context, round int) (measured, error) {
	another := fmt.Sprintf("base:range=10.%d.0.0/16", round)
	cmd := l.runner(ctx, "up", "--yes", "--allow", "vpc", "-o", "json", "--config", another)
	m, err := timed(cmd)
	if err != nil {
		return m, err
	}
	events, isBuffer := cmd.Stdout.(*bytes.Buffer)
	if !isBuffer {
		return m, errors.New("the events of an up were not kept")
	}
	looks := strings.Count(events.String(), "previewed again with the outputs of ")
	if round > 0 && looks != l.looks {
		return m, fmt.Errorf("(%s): the reader was previewed again %d times, not %d", l.letter, looks, l.looks)
	}
	return m, nil
}
