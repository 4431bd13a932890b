// Command mara-engine is Pulumi's own command line, embedded as a warm worker.
//
// The runner starts it with two pipes (see package wire) and has it run one
// Pulumi command after the other in one process, so that Pulumi's start-up and
// the derivation of the passphrase key are paid once per worker. Started by
// hand, it behaves as `pulumi` with the commands that operate stacks.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"

	"mara/runner/internal/pulumi/pulumicli/wire"
)

// workerFlag makes the program a worker, with the runner's pipes.
const workerFlag = "--mara-worker"

// gcPercent is how much the heap may grow before a collection. A worker lives for
// seconds and has little live data, so collecting costs more than memory.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
	runtime.MemProfileRate = 0 // the profile is not read, and takes time
	version.Version = sdk.Version.String()
	if len(os.Args) == 2 && os.Args[1] == workerFlag {
		if err := work(); err != nil {
			fmt.Fprintf(os.Stderr, "mara-engine: %v\n", err)
			os.Exit(1)
		}
		return
	}
	lookBeside()
	os.Exit(execute(os.Args[1:]))
}

// lookBeside has Pulumi look for plugins beside this program, too, after
// everywhere else on the PATH. It does so by itself for its own only.
func lookBeside() {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err == nil {
		_ = os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(self))
	}
}

// work serves requests until the runner closes the pipe.
func work() error {
	replies := os.NewFile(wire.ReplyFD, "replies")
	requests := os.NewFile(wire.RequestFD, "requests")
	if replies == nil || requests == nil {
		return fmt.Errorf("%s is for the runner only", workerFlag)
	}
	for _, pipe := range []*os.File{requests, replies} {
		// The engine starts plugins; they must not hold our pipes open.
		syscall.CloseOnExec(int(pipe.Fd()))
	}
	keepCrashOutput()
	interrupts := watchInterrupts()
	backend.CancellationScopes = interrupts
	asked := watchQuestions()
	previews := hookLogins()

	encoder := json.NewEncoder(replies)
	if err := encoder.Encode(wire.Hello{Protocol: wire.Version, Pulumi: sdk.Version.String()}); err != nil {
		return fmt.Errorf("greeting the runner: %w", err)
	}
	for request := range receive(requests, interrupts) {
		if err := serve(request, encoder, asked, previews); err != nil {
			return err
		}
	}
	return nil
}

// receive decodes requests as they come. If the runner dies in the middle of an
// operation, it cancels the operation as one Ctrl-C would, so that Pulumi finishes
// its bookkeeping and leaves no lock behind.
func receive(pipe *os.File, interrupts *interrupts) <-chan wire.Request {
	requests := make(chan wire.Request)
	go func() {
		defer close(requests)
		decoder := json.NewDecoder(pipe)
		for {
			var request wire.Request
			if err := decoder.Decode(&request); err != nil {
				interrupts.abandon()
				return
			}
			interrupts.begin()
			requests <- request
		}
	}()
	return requests
}

// keepCrashOutput sends the trace of a crash to the stderr of the process, because
// file descriptor 2 belongs to the running command.
func keepCrashOutput() {
	fd, err := syscall.Dup(2)
	if err != nil {
		return
	}
	syscall.CloseOnExec(fd)
	_ = debug.SetCrashOutput(os.NewFile(uintptr(fd), "crash"), debug.CrashOptions{})
}
