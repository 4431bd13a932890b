// Command bench measures the runner against Pulumi's Automation API used the
// way its documentation shows, and against itself. `make bench` builds and runs
// it; docs/performance.md tells how to read what it prints.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// options say what is measured, and with what.
type options struct {
	bin          string   // directory of the built programs
	provider     string   // whose plan is used
	environments int      // of the fleet
	rounds       int      // of the quick measurements; the slow ones take fewer
	resources    []int    // numbers of them in the projects with many
	states       []string // where those have their states
	growth       []int    // numbers of resources of which everything is measured
	wholeStates  int      // as many resources are also measured with whole states, if that is more than takes seconds
	only         []string // names of measurements; none means all
	watch        time.Duration
}

func parse(args []string) (options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	o := options{}
	flags.StringVar(&o.bin, "bin", "bin", "directory of the built programs")
	flags.StringVar(&o.provider, "provider", "aws", "provider whose plan is used")
	flags.IntVar(&o.rounds, "rounds", 7, "how often the quick measurements are repeated")
	flags.IntVar(&o.environments, "environments", 80, "how many environments the fleet has")
	resources := flags.String("resources", "250,500,1000,2000", "how many resources the projects with many have")
	growth := flags.String("growth", "1000,5000,20000", "how many resources the project has whose growth is measured")
	states := flags.String("states", strings.Join(statePlaces, ","), "where those have their states")
	flags.IntVar(&o.wholeStates, "whole-states", 0, "measure up to this many resources with whole states as well; it takes minutes")
	only := flags.String("only", "", "measure only these, separated by commas: "+
		"chains, fleet, growth, noop, path, preview, resources, scheduler, secondlook, service, start, values, web, webhour; chains, fleet, growth, resources, web "+
		"and webhour take long and are only measured if named")
	flags.DurationVar(&o.watch, "watch", time.Hour, "how long webhour follows a run")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	o.states = strings.Split(*states, ",")
	for _, place := range o.states {
		if !slices.Contains(statePlaces, place) {
			return o, fmt.Errorf("--states: %s is none of %s", place, strings.Join(statePlaces, ", "))
		}
	}
	var err error
	if o.resources, err = numbers("--resources", *resources); err != nil {
		return o, err
	}
	if o.growth, err = numbers("--growth", *growth); err != nil {
		return o, err
	}
	if o.environments < 1 {
		return o, errors.New("--environments: one is the least")
	}
	if o.watch < time.Minute {
		return o, errors.New("--watch: a minute is the least")
	}
	if o.rounds < 1 {
		return o, errors.New("--rounds: once is the least")
	}
	o.bin, err = filepath.Abs(o.bin)
	return o, err
}

// numbers decodes numbers of resources.
func numbers(flag, list string) (all []int, err error) {
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s: %s is no number of resources", flag, text)
		}
		all = append(all, n)
	}
	return all, nil
}

// run does all measurements and prints each as soon as it is done.
func run(ctx context.Context, args []string, w io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, machine())
	for _, part := range []struct {
		name    string
		measure func(context.Context, options, io.Writer) error
		isLong  bool // it is measured only if it is named
	}{
		{"start", measureStart, false},
		{"scheduler", measureScheduler, false},
		{"noop", measureNoop, false},
		{"preview", measurePreview, false},
		{"secondlook", measureSecondLook, false},
		{"values", measureValues, false},
		{"service", measureService, false},
		{"path", measurePath, false},
		{"chains", measureChains, true},
		{"fleet", measureFleet, true},
		{"resources", measureResources, true},
		{"growth", measureGrowth, true},
		{"web", measureWeb, true},
		{"webhour", measureWebHour, true},
	} {
		if named := slices.Contains(o.only, part.name); !named && (len(o.only) > 0 || part.isLong) {
			continue
		}
		if err := part.measure(ctx, o, w); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}
