package e2e

import (
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
	mostStart = 3 // times an empty program that links the same Pulumi SDK
)

// TestSize keeps the runner small enough to download.
func TestSize(t *testing.T) {
	t.Parallel()
	info, err := os.Stat(program(t, "runner"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostBytes {
		t.Errorf("runner has %d bytes, more than %d: docs/performance.md says what is in it", info.Size(), mostBytes)
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
	folder, err := os.MkdirTemp(".", "_empty-") // within the module, whose SDK it links; ./... leaves out what begins with _
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(emptyProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if output, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", empty, "./"+folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var base, help time.Duration
	for range 3 {
		base, help = leastTime(t, empty), leastTime(t, program(t, "runner"), "--help")
		t.Logf("an empty program takes %s, runner --help %s", base, help)
		if help <= mostStart*base {
			return
		}
	}
	t.Errorf("runner --help takes %s, more than %d times the %s of an empty program with the same SDK", help, mostStart, base)
}

// leastTime is the processor time that a program takes at the least.
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
