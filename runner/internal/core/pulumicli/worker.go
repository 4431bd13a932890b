package pulumicli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3"

	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/machine/process"
)

// workerFlag makes mara-engine a worker.
const workerFlag = "--mara-worker"

// closeTime is how long close waits for a worker to exit.
const closeTime = 5 * time.Second

// peer is a mara-engine process at the other end of two pipes.
type peer struct {
	process  *exec.Cmd
	requests *json.Encoder
	pipe     io.Closer // the request pipe; closing it ends the process
	replies  *json.Decoder
	output   io.Closer
	crash    *process.Output
	waited   func() error
}

// worker is a process that runs commands.
type worker struct {
	peer
	keys     []wire.Key // keys of the worker; owned by the command that has taken the worker
	commands int        // number of commands it has run; likewise
	known    int        // how many answers of Pulumi Cloud it was sent; likewise
}

// startWorker starts a worker.
func startWorker(path string) (*worker, error) {
	p, err := startPeer(path, workerFlag)
	if err != nil {
		return nil, err
	}
	w := &worker{peer: p}
	if err := w.greet(path); err != nil {
		w.kill()
		_ = w.close()
		return nil, err
	}
	return w, nil
}

// startPeer starts a process in its own session, so that the terminal's signals reach it only through the runner, and
// its plugins are found where it was killed. Its environment is minimal: each request has the environment of its
// command, with secrets.
func startPeer(path, flag string) (w peer, err error) {
	requestRead, requestWrite, err := os.Pipe()
	if err != nil {
		return w, fmt.Errorf("starting the engine: %w", err)
	}
	replyRead, replyWrite, err := os.Pipe()
	if err != nil {
		return w, errors.Join(fmt.Errorf("starting the engine: %w", err), requestRead.Close(), requestWrite.Close())
	}
	w = peer{
		process:  exec.Command(path, flag),
		requests: json.NewEncoder(requestWrite),
		pipe:     requestWrite,
		replies:  json.NewDecoder(replyRead),
		output:   replyRead,
		crash:    &process.Output{},
	}
	w.process.ExtraFiles = []*os.File{requestRead, replyWrite}
	w.process.Env = []string{"HOME=" + os.Getenv("HOME"), "PATH=" + os.Getenv("PATH"), "TERM=dumb"}
	w.process.Stderr = w.crash
	process.OwnSession(w.process)
	err = w.process.Start()
	requestRead.Close()
	replyWrite.Close()
	if err != nil {
		requestWrite.Close()
		replyRead.Close()
		return w, fmt.Errorf("starting the engine %s: %w", path, err)
	}
	w.waited = sync.OnceValue(w.process.Wait)
	return w, nil
}

func (w *worker) greet(path string) error {
	var hello wire.Hello
	if err := w.replies.Decode(&hello); err != nil {
		return fmt.Errorf("%s does not answer as an engine: %w%s", path, err, w.crash.Note())
	}
	if hello.Protocol != wire.Version || hello.Pulumi != sdk.Version.String() {
		return fmt.Errorf("%s is of another build (protocol %d, Pulumi %s; wanted %d, %s); install runner and mara-engine "+
			"together",
			path, hello.Protocol, hello.Pulumi, wire.Version, sdk.Version)
	}
	return nil
}

// lacks returns the keys to send with the next request: all keys, unless the worker has them.
// It records them as the worker's keys.
func (w *worker) lacks(keys []wire.Key) []wire.Key {
	same := func(a, b wire.Key) bool { return a.Salt == b.Salt && bytes.Equal(a.Raw, b.Raw) }
	if slices.EqualFunc(w.keys, keys, same) {
		return nil
	}
	w.keys = keys
	return keys
}

// do runs one request and returns the last reply, with the command's exit code. An error means that the worker itself
// failed and cannot be used again.
func (w *worker) do(request wire.Request, stdout, stderr io.Writer) (last wire.Reply, err error) {
	if err := w.requests.Encode(request); err != nil {
		return last, w.failure(err)
	}
	for {
		var reply wire.Reply
		if err := w.replies.Decode(&reply); err != nil {
			return last, w.failure(err)
		}
		if reply.Exit != nil {
			return reply, nil
		}
		if _, err := stdout.Write(reply.Stdout); err != nil {
			return last, err
		}
		if _, err := stderr.Write(reply.Stderr); err != nil {
			return last, err
		}
	}
}

func (w *worker) failure(err error) error {
	w.kill()
	ended := cmp.Or(w.waited(), err)
	return fmt.Errorf("the engine process ended in the middle of the operation: %w%s", ended, w.crash.Note())
}

// kill kills the process and what it has started.
func (w *peer) kill() {
	process.Kill(w.process.Process.Pid)
}

// close asks the process to exit, and kills it if it does not.
func (w *peer) close() error {
	_ = w.pipe.Close()
	timer := time.AfterFunc(closeTime, w.kill)
	defer timer.Stop()
	_ = w.waited() // the exit code of an idle worker does not matter
	return w.output.Close()
}
