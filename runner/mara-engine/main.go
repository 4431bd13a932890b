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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	"golang.org/x/sys/unix"

	"mara/projects/loopback"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/mara-engine/ahead"
)

// workerFlag makes the program a worker, with the runner's pipes.
const workerFlag = "--mara-worker"

// gcPercent is how much the heap may grow before a collection. A worker lives for
// seconds and has little live data, so collecting costs more than memory.
const gcPercent = 400

func main() {
	loopback.Guard()
	loopback.Reserve()
	loopback.Plain()
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
	if len(os.Args) == 2 && os.Args[1] == wire.AheadFlag {
		if err := startAhead(); err != nil {
			fmt.Fprintf(os.Stderr, "mara-engine: %v\n", err)
			os.Exit(1)
		}
		return
	}
	lookBeside()
	settleHome()
	go endWithParent(os.Args[1:])
	watchRequests()
	hookLogins().args = os.Args[1:]
	os.Exit(execute(os.Args[1:]))
}

// endWithParent ends a command that only reads when the runner that has started it is gone. Any other command gets an
// interrupt, as from one Ctrl-C.
func endWithParent(args []string) {
	parent := os.Getppid()
	if os.Getenv(wire.ParentVariable) != strconv.Itoa(parent) {
		return
	}
	for os.Getppid() == parent {
		time.Sleep(time.Second)
	}
	if wire.ReadsOnly(args) {
		os.Exit(1)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
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

// settleHome has Pulumi look for plugins and logins below $HOME, as the checks of the runner and Pulumi's own releases
// do. Where this program is linked with cgo, Pulumi asks the database of users, which may name another directory.
func settleHome() {
	if home := os.Getenv("HOME"); home != "" && os.Getenv("PULUMI_HOME") == "" {
		_ = os.Setenv("PULUMI_HOME", filepath.Join(home, ".pulumi"))
	}
}

// work serves requests until the runner closes the pipe.
func work() error {
	requests, replies, err := pipes(workerFlag)
	if err != nil {
		return err
	}
	keepCrashOutput()
	interrupts := watchInterrupts()
	backend.CancellationScopes = interrupts
	asked := watchQuestions()
	asksService := watchRequests()
	previews := hookLogins()

	encoder := json.NewEncoder(replies)
	if err := encoder.Encode(wire.Hello{Protocol: wire.Version, Pulumi: sdk.Version.String()}); err != nil {
		return fmt.Errorf("greeting the runner: %w", err)
	}
	for request := range receive(requests, interrupts) {
		if err := serve(request, encoder, asked, previews, asksService); err != nil {
			return err
		}
	}
	return nil
}

// startAhead starts a program before its turn.
func startAhead() error {
	requests, replies, err := pipes(wire.AheadFlag)
	if err != nil {
		return err
	}
	return ahead.Serve(requests, replies, enter)
}

// pipes returns the pipes of the runner.
func pipes(flag string) (requests, replies *os.File, err error) {
	replies = os.NewFile(wire.ReplyFD, "replies")
	requests = os.NewFile(wire.RequestFD, "requests")
	if replies == nil || requests == nil {
		return nil, nil, fmt.Errorf("%s is for the runner only", flag)
	}
	for _, pipe := range []*os.File{requests, replies} {
		// The engine starts plugins; they must not hold our pipes open.
		syscall.CloseOnExec(int(pipe.Fd()))
	}
	return requests, replies, nil
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
				interrupts.abandon(abandonTime, func() { os.Exit(1) })
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

// drainTime bounds the wait for the last output of a command. A process that the
// command has left behind may never close the pipe.
const drainTime = 2 * time.Second

// serve runs one command and streams its output to the runner.
func serve(request wire.Request, encoder *json.Encoder, asked *questions, previews *logins,
	service *requests) error {
	replies := &replyWriter{encoder: encoder}
	output, err := capture(replies)
	if err != nil {
		return err
	}
	if len(request.Keys) > 0 {
		keepKeys(request.Keys)
	}
	service.learn(request.Known)
	previews.args = request.Args
	code, found := runPreview(request, previews, func() int { return run(request, asked) })
	if lost := service.lost(); lost != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "error: failed to save snapshot: %s\n", lost)
		code = 1
	}
	output.release()
	return replies.send(wire.Reply{Exit: &code, Found: found, Known: service.learned()})
}

// runPreview executes a command. A command that is a preview reads foreseen outputs,
// and what it finds is returned as well.
func runPreview(request wire.Request, previews *logins, execute func() int) (int, *wire.Found) {
	if request.Preview == nil {
		return execute(), nil
	}
	preview, err := newForesight(request.Preview)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: reading the outputs of other previews: %v\n", err)
		return 1, nil
	}
	previews.preview = preview
	code := execute()
	previews.preview = nil
	preview.close()
	if code != 0 {
		return code, nil
	}
	found, err := preview.found()
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: comparing the outputs of the preview: %v\n", err)
		return 1, nil
	}
	return 0, found
}

// run sets the working directory, environment and standard input of the process,
// which Pulumi's commands read, and executes the command.
func run(request wire.Request, asked *questions) int {
	if err := enter(request.Dir, request.Env); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		return 1
	}
	if err := provideStdin(request.Stdin); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		return 1
	}
	asked.reset()
	defer asked.tell()
	return execute(request.Args)
}

// enter makes a directory and an environment those of the process.
func enter(dir string, env []string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	os.Clearenv()
	for _, entry := range env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			_ = os.Setenv(name, value)
		}
	}
	settleHome()
	loopback.Plain()
	return nil
}

// provideStdin makes the request's input the process's standard input.
func provideStdin(input []byte) error {
	if len(input) == 0 {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer null.Close()
		return unix.Dup2(int(null.Fd()), 0)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	go func() {
		defer write.Close()
		_, _ = write.Write(input)
	}()
	return unix.Dup2(int(read.Fd()), 0)
}

// replyWriter serialises the replies of the two output streams.
type replyWriter struct {
	mu      sync.Mutex // guards encoder
	encoder *json.Encoder
}

func (w *replyWriter) send(reply wire.Reply) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.encoder.Encode(reply)
}

// redirection sends file descriptors 1 and 2 to the runner until it is released.
// It works below os.Stdout, because Pulumi keeps references to that.
type redirection struct {
	readers []*os.File
	done    sync.WaitGroup
}

func capture(replies *replyWriter) (*redirection, error) {
	r := &redirection{}
	streams := map[int]func([]byte) wire.Reply{
		1: func(b []byte) wire.Reply { return wire.Reply{Stdout: b} },
		2: func(b []byte) wire.Reply { return wire.Reply{Stderr: b} },
	}
	for fd, wrap := range streams {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("capturing output: %w", err)
		}
		if err := unix.Dup2(int(write.Fd()), fd); err != nil {
			return nil, fmt.Errorf("capturing output: %w", err)
		}
		write.Close()
		r.readers = append(r.readers, read)
		r.done.Go(func() { forward(read, replies, wrap) })
	}
	return r, nil
}

// release closes the write ends and waits for what is still in the pipes.
func (r *redirection) release() {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err == nil {
		_ = unix.Dup2(int(null.Fd()), 1)
		_ = unix.Dup2(int(null.Fd()), 2)
		null.Close()
	}
	for _, read := range r.readers {
		_ = read.SetReadDeadline(time.Now().Add(drainTime))
	}
	r.done.Wait()
}

func forward(read *os.File, replies *replyWriter, wrap func([]byte) wire.Reply) {
	defer read.Close()
	buffer := make([]byte, 32*1024)
	for {
		n, err := read.Read(buffer)
		if n > 0 {
			// An error means that the runner is gone, which receive notices.
			_ = replies.send(wrap(buffer[:n]))
		}
		if err != nil {
			return
		}
	}
}
