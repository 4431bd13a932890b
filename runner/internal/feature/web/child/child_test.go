package child

import (
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain makes the program of the tests the child that they run, too.
func TestMain(m *testing.M) {
	switch os.Getenv("CHILD") {
	case "memory":
		var all [][]byte
		for range 4096 {
			piece := make([]byte, 16<<20)
			for i := 0; i < len(piece); i += 4096 {
				piece[i] = 1
			}
			all = append(all, piece)
		}
		runtime.KeepAlive(all)
	case "output":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<20)); err != nil {
				os.Exit(1)
			}
		}
	case "time":
		time.Sleep(time.Minute)
	case "failure":
		_, _ = os.Stdout.WriteString("part")
		_, _ = os.Stderr.WriteString("error: no such query\n")
		os.Exit(2)
	default:
		os.Exit(m.Run())
	}
}

// hasRaceDetector reports whether the tests are built with the race detector, which needs more memory than the limit.
func hasRaceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestLimits: a child that takes all memory, prints without end or takes too long is ended, and the error says why.
func TestLimits(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]string{"memory": "more than 512 MiB of memory", "output": "too large", "time": "took longer", "failure": "no such query"} {
		if kind == "memory" && (runtime.GOOS != "linux" || hasRaceDetector()) {
			continue
		}
		t.Setenv("CHILD", kind)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if kind == "time" {
			cancel()
		}
		out, err := run(ctx, t.TempDir(), program, nil, 512<<20)
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) && kind != "time" {
			t.Errorf("%s: %v", kind, err)
		}
		var failed *FailedError
		if errors.As(err, &failed) != (kind == "failure") || kind == "failure" && string(out) != "part" {
			t.Errorf("%s: %T, %q", kind, err, out)
		}
	}
}

// TestTurns: only a few commands run at the same time, and others wait.
func TestTurns(t *testing.T) {
	hold := make(chan struct{})
	started := make(chan struct{}, 10)
	r := New(func(context.Context, ...string) ([]byte, error) { started <- struct{}{}; <-hold; return nil, nil })
	for range mostAtOnce {
		go func() { _, _ = r.Run(t.Context()) }()
		<-started
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Run(ctx); err == nil || !strings.Contains(err.Error(), "other queries still run") {
		t.Errorf("a third at the same time: %v", err)
	}
	close(hold)
}
