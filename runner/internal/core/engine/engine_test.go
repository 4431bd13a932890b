package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mara/runner/internal/machine/interrupt"
)

func TestFind(t *testing.T) {
	directory := t.TempDir()
	beside, other, pulumi := filepath.Join(directory, "mara-engine"), filepath.Join(directory, "other"), filepath.Join(directory, "bin", "pulumi")
	for _, path := range []string{beside, other, pulumi} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, installed string
		engines         []string
		path            string
		want            Found
	}{
		{"beside the runner", "", []string{beside, other}, "", Found{Path: beside, Embedded: true}},
		{"where RUNNER_ENGINE says", "", []string{filepath.Join(directory, "nowhere"), other}, "", Found{Path: other, Embedded: true}},
		{"a directory is none", "", []string{directory, other}, "", Found{Path: other, Embedded: true}},
		{"on PATH", "", []string{filepath.Join(directory, "nowhere")}, filepath.Dir(pulumi), Found{Path: pulumi}},
		{"asked for", "my-pulumi", []string{beside}, filepath.Dir(pulumi), Found{Path: "my-pulumi"}},
		{"none", "", nil, "", Found{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", test.path)
			got, err := Find(test.engines, test.installed)
			if got != test.want || (err == nil) != (test.want != Found{}) {
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
	Engine
	done chan struct{}
}

func (k killed) Kill() { close(k.done) }

// TestKillOnThird: the third Ctrl-C kills what runs; after the end nothing does.
func TestKillOnThird(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		signals := make(chan os.Signal)
		levels := interrupt.Watch(context.Background(), signals)
		k := killed{done: make(chan struct{})}
		stop := killOnThird(levels, k)
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
	killOnThird(nil, killed{})()
}

// quiet is an engine whose commands all succeed.
type quiet struct{ Engine }

func (quiet) Run(context.Context, string, io.Reader, []io.Writer, []io.Writer, []string, ...string) (string, string, int, error) {
	return "", "", 0, nil
}

func (quiet) Unlock(string, []byte) {}

// TestLogged: commands are logged, but neither their environment nor keys.
func TestLogged(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	noTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	log := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: noTime}))
	e := newLogged(quiet{}, Options{Log: log, Now: func() time.Time { return time.Unix(0, 0) }})
	_, _, _, _ = e.Run(t.Context(), "/tmp/work", nil, nil, nil, []string{"PULUMI_CONFIG_PASSPHRASE=keep-secret"}, "stack", "output", "--stack", "organization/aws-vpc/dev")
	e.Unlock("v1:salt", []byte("keep-secret"))
	want := `level=DEBUG msg="pulumi begins" args="stack output --stack organization/aws-vpc/dev" dir=/tmp/work
level=DEBUG msg="pulumi ended" command="stack output" project=aws-vpc exit=0 took=0s
`
	if said.String() != want {
		t.Errorf("got:\n%swant:\n%s", &said, want)
	}
}
