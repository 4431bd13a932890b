package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"text/tabwriter"
	"time"
)

// contender is a way to do a no-op up of the whole environment.
type contender struct {
	letter, name string
	args         []string // of the runner
	rounds       int
	goal         float64 // how many times faster than (a)
}

func (o options) contenders() []contender {
	return []contender{
		{"b", "runner --force --pulumi, stock CLI",
			[]string{"--force", "--pulumi", filepath.Join(o.bin, "pulumi")}, max(1, o.rounds/2), 3},
		{"c", "runner --force --parallel 1", []string{"--force", "--parallel", "1"}, o.rounds, 12},
		{"d", "runner --force", []string{"--force"}, o.rounds, 20},
		{"n", "runner: nothing has changed", nil, o.rounds, 100},
	}
}

// measureNoop compares ways to find out that nothing has to change.
func measureNoop(ctx context.Context, o options, w io.Writer) error {
	e, err := newEnvironment(o)
	if err != nil {
		return err
	}
	defer e.remove()
	if _, err := timed(e.runner(ctx, "up", "--yes")); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nNo-op up of %s's %d projects, simulated\n", o.provider, len(e.plan.Steps))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  \t\tMEDIAN\tLEAST\tOF\ta/x\tGOAL\tCOMMANDS A PROJECT\tKEYS\tMEMORY")
	base, err := e.measureYardstick(ctx, table)
	if err != nil {
		return err
	}
	for _, c := range o.contenders() {
		if err := e.measureContender(ctx, table, c, base); err != nil {
			return err
		}
	}
	return table.Flush()
}

// measureYardstick measures (a).
func (e *environment) measureYardstick(ctx context.Context, table io.Writer) (time.Duration, error) {
	y, err := newYardstick(ctx, e)
	if err != nil {
		return 0, err
	}
	defer y.close()
	all, err := repeat(ctx, max(1, e.rounds/3), func() (measured, error) { return y.once(ctx) })
	if err != nil {
		return 0, err
	}
	memory := watchMemory()
	_, err = y.once(ctx)
	peak := memory()
	fmt.Fprintf(table, "  (a)\tAutomation API's default loop\t%s\t%s\t%d\t1\t\t6\t\t%s\n",
		seconds(all.median()), seconds(all.least()), len(all), megabytes(peak))
	return all.median(), err
}

// measureContender measures one of (b) to (n).
func (e *environment) measureContender(ctx context.Context, table io.Writer, c contender, base time.Duration) error {
	call := func(more ...string) *exec.Cmd {
		return e.runner(ctx, append(append([]string{"up", "--yes", "-o", "json"}, c.args...), more...)...)
	}
	all, err := repeat(ctx, c.rounds, func() (measured, error) { return timed(call()) })
	if err != nil {
		return err
	}
	// What follows costs time of its own, and is not timed.
	memory := watchMemory()
	profiled, err := timed(call("--profile"))
	peak := memory()
	if err != nil {
		return err
	}
	commands, workers, err := counts(profiled.stderr)
	if err != nil {
		return err
	}
	keys := "-"
	if workers > 0 {
		reads, err := e.reads(call)
		if err != nil {
			return err
		}
		keys = strconv.Itoa(1 + reads)
	}
	fmt.Fprintf(table, "  (%s)\t%s\t%s\t%s\t%d\t%.1f\t>= %.0f\t%.2f\t%s\t%s\n",
		c.letter, c.name, seconds(all.median()), seconds(all.least()), len(all),
		base.Seconds()/all.median().Seconds(), c.goal, float64(commands)/float64(len(e.plan.Steps)), keys, megabytes(peak))
	return nil
}

// reads counts how often workers read the passphrase, which they do to derive the key unless
// the runner has passed it to them. The runner's own reads are those of a run without
// projects.
func (e *environment) reads(call func(...string) *exec.Cmd) (int, error) {
	var counted [2]int
	for i, args := range [][]string{{"--resume"}, nil} {
		opened, err := watchOpens(e.passphraseFile())
		if err != nil {
			return 0, err
		}
		_, err = timed(call(args...))
		counted[i] = opened()
		if err != nil {
			return 0, err
		}
	}
	return counted[1] - counted[0], nil
}

var countLine = regexp.MustCompile(`(?m)^(\d+) Pulumi commands: [^;\n]*(?:; (\d+) workers)?`)

// counts reads what --profile tells.
func counts(profile string) (commands, workers int, err error) {
	found := countLine.FindStringSubmatch(profile)
	if found == nil {
		return 0, 0, fmt.Errorf("--profile tells no count of commands:\n%s", profile)
	}
	commands, _ = strconv.Atoi(found[1])
	workers, _ = strconv.Atoi(found[2])
	return commands, workers, nil
}

func megabytes(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return fmt.Sprintf("%dMB", bytes>>20)
}
