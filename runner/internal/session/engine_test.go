package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mara/runner/internal/interrupt"
)

func TestFindEngine(t *testing.T) {
	folder := t.TempDir()
	beside, other, pulumi := filepath.Join(folder, "mara-engine"), filepath.Join(folder, "other"), filepath.Join(folder, "bin", "pulumi")
	for _, path := range []string{beside, other, pulumi} {
		put(t, path, "")
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, installed string
		engines         []string
		path            string
		want            FoundEngine
	}{
		{"beside the runner", "", []string{beside, other}, "", FoundEngine{Path: beside, embedded: true}},
		{"where RUNNER_ENGINE says", "", []string{filepath.Join(folder, "nowhere"), other}, "", FoundEngine{Path: other, embedded: true}},
		{"a folder is none", "", []string{folder, other}, "", FoundEngine{Path: other, embedded: true}},
		{"on PATH", "", []string{filepath.Join(folder, "nowhere")}, filepath.Dir(pulumi), FoundEngine{Path: pulumi}},
		{"asked for", "my-pulumi", []string{beside}, filepath.Dir(pulumi), FoundEngine{Path: "my-pulumi"}},
		{"none", "", nil, "", FoundEngine{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", test.path)
			got, err := FindEngine(Deps{Engines: test.engines}, test.installed)
			if got != test.want || (err == nil) != (test.want != FoundEngine{}) {
				t.Errorf("got %+v, %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), "RUNNER_ENGINE") {
				t.Errorf("the error does not say what to do: %v", err)
			}
		})
	}
}

// killed is an engine that can be killed.
type killed struct {
	engine
	done chan struct{}
}

func (k killed) Kill() { close(k.done) }

// TestKillWith: the third Ctrl-C kills what runs; after the end nothing does.
func TestKillWith(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		signals := make(chan os.Signal)
		levels := interrupt.Watch(context.Background(), signals)
		k := killed{done: make(chan struct{})}
		stop := killWith(Deps{Interrupt: levels}, k)
		if ended {
			stop()
		}
		for range 3 {
			signals <- syscall.SIGINT
		}
		close(signals)
		<-levels.Killed()
		if ended {
			select {
			case <-k.done:
				t.Error("the engine was killed after the end")
			case <-time.After(20 * time.Millisecond):
			}
			continue
		}
		<-k.done
		stop()
	}
	killWith(Deps{}, killed{})()
}
