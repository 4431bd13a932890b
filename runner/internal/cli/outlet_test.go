package cli_test

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/prompttest"
	"mara/runner/internal/wire"
)

// TestReaderGoesAway runs `runner plan | head -1`.
func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	d, _, stderr := cmdtest.Deps(t)
	d.Stdout = w
	for _, args := range [][]string{{"plan", "-p", "aws"}, {"providers"}, {"version", "-o", "json"}, {"help"}, {"schema", "events"}} {
		if code := wire.Run(context.Background(), d, args); code != cmd.ExitDone || stderr.Len() > 0 {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
}

// refusing is a disk that is full.
type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestTerminalGoesAway closes the terminal that a command prints to.
func TestTerminalGoesAway(t *testing.T) {
	t.Parallel()
	terminal, side := prompttest.Open(t)
	terminal.HangUp()
	for { // until no program that another test starts has it open for a moment
		if _, err := side.WriteString("text"); err != nil {
			if !errors.Is(err, syscall.EIO) {
				t.Fatalf("writing to a terminal that is closed: %v", err)
			}
			break
		}
	}
	d, _, stderr := cmdtest.Deps(t)
	d.Stdout, d.StdoutIsTerminal = side, true
	if code := wire.Run(context.Background(), d, []string{"plan", "-p", "aws"}); code != cmd.ExitDone || stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

func TestOtherErrorsOfWritingCount(t *testing.T) {
	t.Parallel()
	d, _, stderr := cmdtest.Deps(t)
	d.Stdout = refusing{}
	if code := wire.Run(context.Background(), d, []string{"plan", "-p", "aws"}); code != cmd.ExitFailed || stderr.String() != "error: no space left on device\n" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
