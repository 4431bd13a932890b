package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// measured is one measurement.
type measured struct {
	wall   time.Duration
	cpu    time.Duration // of the process and what it waited for
	stderr string
}

// timed runs a command to its end.
func timed(cmd *exec.Cmd) (measured, error) {
	var output, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &errs
	began := time.Now()
	err := cmd.Run()
	m := measured{wall: time.Since(began), stderr: errs.String()}
	if cmd.ProcessState != nil {
		m.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, output.String(), errs.String())
	}
	return m, nil
}

// times are repeated measurements.
type times []measured

// repeat measures again and again. The first time is thrown away: it fills
// caches.
func repeat(ctx context.Context, rounds int, once func() (measured, error)) (times, error) {
	var all times
	for i := range rounds + 1 {
		m, err := once()
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if i > 0 {
			all = append(all, m)
		}
	}
	return all, nil
}

// median returns the median of the measurements.
func (t times) median() time.Duration {
	return slices.SortedFunc(slices.Values(t), byWall)[len(t)/2].wall
}

func (t times) least() time.Duration { return slices.MinFunc(t, byWall).wall }

func byWall(a, b measured) int { return cmp.Compare(a.wall, b.wall) }

// String returns the median and the least time.
func (t times) String() string {
	return fmt.Sprintf("%s (least %s, of %d)", seconds(t.median()), seconds(t.least()), len(t))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3fs", d.Seconds()) }

// machine tells where the measurements are made, and what else goes on there.
func machine() string {
	text := fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		text += ", load before " + strings.Join(strings.Fields(string(load))[:3], " ")
	}
	return text
}
