package process_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/core/lock"
	"mara/runner/internal/machine/process"
)

// roleVariable makes the test's own program play a part, on any system.
const roleVariable = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "parent", "parent of a leader": // starts a child that would live long
		child := exec.Command(os.Args[0])
		if os.Getenv(roleVariable) != "parent" {
			process.OwnGroup(child)
		}
		child.Env = append(os.Environ(), roleVariable+"=child")
		if err := child.Start(); err != nil {
			os.Exit(3)
		}
		fmt.Println(child.Process.Pid)
		_ = child.Wait()
		os.Exit(4)
	case "child":
		time.Sleep(time.Minute)
		os.Exit(5)
	case "interrupted":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		fmt.Println("ready")
		select {
		case <-ctx.Done():
			os.Exit(7)
		case <-time.After(time.Minute):
			os.Exit(5)
		}
	}
	os.Exit(m.Run())
}

// start starts this program in a part and returns what it says first.
func start(t *testing.T, role string) (*exec.Cmd, string) {
	t.Helper()
	return startAs(t, role, process.OwnGroup)
}

// startAs starts this program in a part, in a group or session of its own.
func startAs(t *testing.T, role string, own func(*exec.Cmd)) (*exec.Cmd, string) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), roleVariable+"="+role)
	own(command)
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.Kill(command.Process.Pid) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return command, strings.TrimSpace(line)
}

// TestKillAfterTheEnd: what a process has started in its session is killed even after the process was killed.
func TestKillAfterTheEnd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sessions of processes")
	}
	command, line := startAs(t, "parent of a leader", process.OwnSession)
	child, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !lock.IsAlive(child) {
		t.Fatal("the child has ended with its parent")
	}
	killAll(t, command, child)
}

// killAll kills what a command has started, and waits until its child has ended.
func killAll(t *testing.T, command *exec.Cmd, child int) {
	t.Helper()
	process.Kill(command.Process.Pid)
	_ = command.Wait()
	for deadline := time.Now().Add(10 * time.Second); lock.IsAlive(child); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the child lives on")
		}
	}
}

// TestKillEndsWhatWasStarted, also children that lead groups of their own, as Pulumi's plugins do.
func TestKillEndsWhatWasStarted(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"parent", "parent of a leader"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			command, line := start(t, role)
			child, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			if !lock.IsAlive(child) {
				t.Fatal("the child does not live")
			}
			killAll(t, command, child)
		})
	}
}

func TestInterruptIsHandled(t *testing.T) {
	t.Parallel()
	command, line := start(t, "interrupted")
	if line != "ready" {
		t.Fatalf("got %q", line)
	}
	process.Interrupt(command.Process.Pid)
	_ = command.Wait()
	if got := command.ProcessState.ExitCode(); got != 7 {
		t.Errorf("exit code %d, want 7", got)
	}
}
