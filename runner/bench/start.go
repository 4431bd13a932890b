package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
)

// emptyProgram is the least that a Go program can be.
const emptyProgram = "package main\n\nfunc main() {}\n"

// completedEnvironments is how many environments the measured completions know.
const completedEnvironments = 80

// measureStart compares what answers without any work with a program that does
// nothing at all. The completions are those of a fleet.
func measureStart(ctx context.Context, o options, w io.Writer) error {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	empty, err := buildEmpty(ctx, dir)
	if err != nil {
		return err
	}
	fleet := &environment{options: o, root: dir}
	if err := fleet.writeFleet(completedEnvironments); err != nil {
		return err
	}
	runner := filepath.Join(o.bin, "runner")
	complete := func(words ...string) []string {
		return append([]string{runner, "completion", "bash", "--", "--root", dir}, words...)
	}
	fmt.Fprintln(w, "\n(g) Start")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, call := range []struct {
		name string
		args []string
	}{
		{"an empty Go program", []string{empty}},
		{"runner --help", []string{runner, "--help"}},
		{"runner plan -p " + o.provider, []string{runner, "plan", "-p", o.provider}},
		{"TAB after runner up -s", complete("up", "-s", "")},
		{"TAB after runner fleet up --selector", complete("fleet", "up", "--selector", "")},
		{"TAB after runner config set", complete("config", "set", "")},
	} {
		times, err := repeat(ctx, 3*o.rounds, func() (measured, error) {
			return timed(exec.CommandContext(ctx, call.args[0], call.args[1:]...))
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "  %s\t%s\n", call.name, times)
	}
	return table.Flush()
}

func buildEmpty(ctx context.Context, dir string) (string, error) {
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "empty")
	if err := os.WriteFile(source, []byte(emptyProgram), 0o600); err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", program, source)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building an empty program: %w\n%s", err, output)
	}
	return program, nil
}
