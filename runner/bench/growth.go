package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// measureGrowth does everything with one project with more and more resources, and says how what it takes grows: with what power
// of their number. 1 is a line, 2 a square.
func measureGrowth(ctx context.Context, o options, w io.Writer) error {
	fmt.Fprintf(w, "\nOne project with many resources, with states in files\n")
	const row = "  %9v  %-24s  %9v  %9v  %6v\n"
	fmt.Fprintf(w, row, "RESOURCES", "", "TIME", "PROCESSOR", "POWER")
	before, smaller := map[string]time.Duration{}, 0
	for _, size := range o.growth {
		dir, err := os.MkdirTemp("", "bench-*")
		if err != nil {
			return err
		}
		err = grow(ctx, o, dir, size, func(name string, m measured) {
			power := ""
			if smaller > 0 {
				power = fmt.Sprintf("%.2f", math.Log(m.cpu.Seconds()/before[name].Seconds())/math.Log(float64(size)/float64(smaller)))
			}
			before[name] = m.cpu
			fmt.Fprintf(w, row, size, name, seconds(m.wall), seconds(m.cpu), power)
		})
		if removeErr := os.RemoveAll(dir); err == nil {
			err = removeErr
		}
		if err != nil {
			return err
		}
		smaller = size
	}
	return nil
}

// grow does everything with a project with a number of resources.
func grow(ctx context.Context, o options, dir string, size int, tell func(name string, m measured)) error {
	program := manyResources(size)
	for name, content := range map[string]string{
		"config/pulumi/environment":     "PULUMI_STACK=dev\n",
		"config/pulumi/Pulumi.dev.yaml": "config: {}\n",
		"mara.yaml":                     "projects:\n- {path: many}\n",
		"many/Pulumi.yaml":              program,
	} {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), content); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		name, command string
		changed       bool // all resources, before it
	}{
		{"first preview", "preview", false},
		{"first up", "up --yes", false},
		{"up, unchanged", "up --yes", false},
		{"up --force, unchanged", "up --force --yes", false},
		{"preview, unchanged", "preview", false},
		{"preview, all changed", "preview -o json", true},
		{"up, all changed, report", "up --yes --report report.html", false},
		{"refresh", "refresh --yes", false},
		{"status", "status", false},
		{"history", "history", false},
		{"query", "query .items|length", false},
		{"report of a past run", "report -o html", false},
		{"destroy", "destroy --yes", false},
	} {
		if step.changed {
			if err := writeFile(filepath.Join(dir, "many", "Pulumi.yaml"), strings.ReplaceAll(program, "xxx\"}", "xxy\"}")); err != nil {
				return err
			}
		}
		command := exec.CommandContext(ctx, filepath.Join(o.bin, "runner"), strings.Fields(step.command)...)
		command.Dir = dir
		command.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "PULUMI_CONFIG_PASSPHRASE=x"}
		m, err := timed(command)
		if err != nil {
			return err
		}
		tell(step.name, m)
	}
	return nil
}
