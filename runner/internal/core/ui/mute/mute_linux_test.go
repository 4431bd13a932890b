package mute_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	_ "github.com/charmbracelet/bubbletea" // asks while it is initialised
	"golang.org/x/sys/unix"

	"mara/runner/internal/core/ui/mute"
)

// childVariable tells the test that it is the child of another, on a terminal.
const childVariable = "MUTE_TEST_CHILD"

func TestNothingIsAskedBeforeMain(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		mute.Restore()
		if got := os.Getenv("TERM"); got != "xterm-256color" {
			t.Errorf("TERM is %q afterwards", got)
		}
		return
	}
	t.Parallel()
	control, terminal := openTerminal(t)
	cmd := exec.Command(os.Args[0], "-test.run", "^TestNothingIsAskedBeforeMain$")
	cmd.Env = []string{"TERM=xterm-256color", childVariable + "=1"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close() // the child has it
	got, err := io.ReadAll(control)
	if err != nil && !errors.Is(err, syscall.EIO) { // the end of a terminal
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v:\n%s", err, got)
	}
	if bytes.ContainsRune(got, '\x1b') {
		t.Errorf("the terminal was asked: %q", got)
	}
}

// openTerminal returns both sides of a new pseudo-terminal.
func openTerminal(t *testing.T) (control, terminal *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { control.Close() })
	if err := unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return control, terminal
}
