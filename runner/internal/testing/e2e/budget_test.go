package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// What the runner may cost whoever installs and starts it. The archive is held to
// its size by make dist-test.
const (
	mostBytes = 90_000_000
	mostStart = 4 // times an empty program that links the same Pulumi SDK
)

// TestSize keeps the runner small enough to download.
func TestSize(t *testing.T) {
	t.Parallel()
	if err := checkSize(program(t, "runner"), mostBytes); err != nil {
		t.Error(err)
	}
}

func checkSize(path string, most int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > most {
		return fmt.Errorf("%s has %d bytes, more than %d: docs/performance.md says what is in it", filepath.Base(path), info.Size(), most)
	}
	return nil
}

func checkStart(base, help time.Duration, most int) error {
	if help > time.Duration(most)*base {
		return fmt.Errorf("runner --help takes %s, more than %d times the %s of an empty program with the same SDK", help, most, base)
	}
	return nil
}

// TestBudgetsAreHeld shows that the checks of this file find what is over budget.
func TestBudgetsAreHeld(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runner")
	for size, want := range map[int64]string{
		mostBytes: "", mostBytes + 1: "runner has 90000001 bytes, more than 90000000: docs/performance.md says what is in it",
	} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
		if err := checkSize(path, mostBytes); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("a program of %d bytes: %v", size, err)
		}
	}
	if err := checkSize(filepath.Join(t.TempDir(), "nothing"), mostBytes); err == nil {
		t.Error("a program that is not there is small enough")
	}
	if err := checkSize(program(t, "runner"), 1_000_000); err == nil {
		t.Error("the runner has less than a megabyte")
	}
	if err := checkStart(10*time.Millisecond, 40*time.Millisecond, mostStart); err != nil {
		t.Errorf("a start within its budget: %v", err)
	}
	err := checkStart(10*time.Millisecond, 41*time.Millisecond, mostStart)
	if err == nil || err.Error() != "runner --help takes 41ms, more than 4 times the 10ms of an empty program with the same SDK" {
		t.Errorf("a slow start: %v", err)
	}
}

// emptyProgram links what the runner cannot do without.
const emptyProgram = `package main

import _ "github.com/pulumi/pulumi/sdk/v3/go/auto"

func main() {}
`

// TestStart keeps `runner --help` quick. Processor time is measured, the least of
// several starts: how busy the machine is matters little to that.
func TestStart(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp(".", "_empty-") // within the module, whose SDK it links; ./... skips what begins with _
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(emptyProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if output, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", empty, "./"+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var late error
	for range 3 {
		base, help := leastTime(t, empty), leastTime(t, program(t, "runner"), "--help")
		t.Logf("an empty program takes %s, runner --help %s", base, help)
		if late = checkStart(base, help, mostStart); late == nil {
			return
		}
	}
	t.Error(late)
}

// leastTime returns the minimum processor time of a program.
func leastTime(t *testing.T, path string, args ...string) time.Duration {
	t.Helper()
	least := time.Hour
	for range 10 {
		command := exec.Command(path, args...)
		command.Env = []string{"HOME=" + t.TempDir(), "TERM=dumb"}
		if err := command.Run(); err != nil {
			t.Fatal(err)
		}
		least = min(least, command.ProcessState.UserTime()+command.ProcessState.SystemTime())
	}
	return least
}
