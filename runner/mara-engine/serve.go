package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"mara/runner/internal/pulumi/pulumicli/wire"
)

// drainTime bounds the wait for the last output of a command. A process that the
// command has left behind may never close the pipe.
const drainTime = 2 * time.Second

// serve runs one command and streams its output to the runner.
func serve(request wire.Request, encoder *json.Encoder, asked *questions, previews *logins) error {
	replies := &replyWriter{encoder: encoder}
	output, err := capture(replies)
	if err != nil {
		return err
	}
	if len(request.Keys) > 0 {
		keepKeys(request.Keys)
	}
	code, found := runPreview(request, previews, func() int { return run(request, asked) })
	output.release()
	return replies.send(wire.Reply{Exit: &code, Found: found})
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
	if err := os.Chdir(request.Dir); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		return 1
	}
	os.Clearenv()
	for _, entry := range request.Env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			_ = os.Setenv(name, value)
		}
	}
	if err := provideStdin(request.Stdin); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		return 1
	}
	asked.reset()
	defer asked.tell()
	return execute(request.Args)
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
