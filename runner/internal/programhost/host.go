// Package programhost starts the process that serves the built-in programs to
// all engines of a session: pulumi-language-mara.
package programhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/pulumi/pulumi/sdk/v3"

	"mara/projects"
	"mara/projects/pulumi-language-mara/wire"
	"mara/runner/internal/crash"
	"mara/runner/internal/process"
)

// name is the file name of the host.
const name = "pulumi-language-" + projects.Runtime

// variable is where Pulumi looks for language hosts that run already.
const variable = "PULUMI_DEBUG_LANGUAGES"

// closeTime is how long the host may take to end.
const closeTime = 5 * time.Second

// lastWords is how long a host that does not serve may take to end.
const lastWords = time.Second

// Find finds the host in the first of the folders that has it, else on PATH.
func Find(folders []string) (string, error) {
	for _, folder := range folders {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("there is no %s, which has the built-in programs; install it beside runner, or put it on PATH", name)
}

// Options say which programs are served, and for whom.
type Options struct {
	Path     string // of the host
	Root     string // where relative paths in the configuration start
	Provider string // for a configuration that does not name it
	// Ran is told how long each program took.
	Ran func(project string, took time.Duration)
	// Ended is told when the host ends although nobody has closed it.
	Ended func(error)
}

// Host is a running host.
type Host struct {
	options Options
	process *exec.Cmd
	stdin   io.Closer // closing it ends the host
	crash   crash.Output
	closing atomic.Bool

	ready chan struct{} // closed when what follows is known
	hello wire.Hello
	err   error // why it does not serve

	done chan struct{} // closed when the process has ended
}

// Start starts the host, which gets ready in the background. It is in a process
// group of its own, so that a Ctrl-C does not end programs in the middle.
func Start(o Options) (*Host, error) {
	h := &Host{options: o, ready: make(chan struct{}), done: make(chan struct{})}
	h.process = exec.Command(o.Path, "--"+wire.RunnerFlag, "--"+wire.RootFlag, o.Root, "--"+wire.ProviderFlag, o.Provider)
	h.process.Stderr = &h.crash
	process.OwnGroup(h.process)
	stdout, err := h.process.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", o.Path, err)
	}
	if h.stdin, err = h.process.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", o.Path, err)
	}
	if err := h.process.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", o.Path, err)
	}
	go h.listen(json.NewDecoder(stdout))
	return h, nil
}

// listen takes what the host says until it ends.
func (h *Host) listen(said *json.Decoder) {
	defer close(h.done)
	if h.err = h.greet(said); h.err != nil {
		close(h.ready)
		return
	}
	close(h.ready)
	for {
		var ran wire.Ran
		if said.Decode(&ran) != nil {
			break
		}
		if h.options.Ran != nil {
			h.options.Ran(ran.Project, ran.Took)
		}
	}
	ended := h.process.Wait()
	if !h.closing.Load() && h.options.Ended != nil {
		h.options.Ended(fmt.Errorf("%s ended in the middle of the run: %w%s", name, orEOF(ended), h.crash.Note()))
	}
}

// orEOF returns why a process has ended that was to go on.
func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// greet learns where the programs are served. It ends a host that does not
// serve them.
func (h *Host) greet(said *json.Decoder) error {
	if err := said.Decode(&h.hello); err != nil {
		timer := time.AfterFunc(lastWords, h.kill)
		defer timer.Stop()
		_ = h.process.Wait() // what it says of itself is complete then
		return fmt.Errorf("%s does not serve: %w%s", h.options.Path, err, h.crash.Note())
	}
	if h.hello.Protocol != wire.Version || h.hello.Pulumi != sdk.Version.String() {
		h.kill()
		_ = h.process.Wait()
		return fmt.Errorf("%s is of another build (protocol %d, Pulumi %s; wanted %d, %s); install it together with runner",
			h.options.Path, h.hello.Protocol, h.hello.Pulumi, wire.Version, sdk.Version)
	}
	return nil
}

// Attach has Pulumi's commands use the host, with a variable of their
// environment. It waits until programs are served.
func (h *Host) Attach(env map[string]string) error {
	<-h.ready
	if h.err != nil {
		return h.err
	}
	attach := fmt.Sprintf("%s:%d", projects.Runtime, h.hello.Port)
	if others := env[variable]; others != "" {
		attach += "," + others
	}
	env[variable] = attach
	return nil
}

// Close ends the host, and waits for that. A program that still runs is waited
// for a little.
func (h *Host) Close() error {
	h.closing.Store(true)
	err := h.stdin.Close()
	if errors.Is(err, os.ErrClosed) { // it has ended before
		err = nil
	}
	timer := time.AfterFunc(closeTime, h.kill)
	defer timer.Stop()
	<-h.done
	return err
}

// kill ends the host and what its programs have started.
func (h *Host) kill() { process.Kill(h.process.Process.Pid) }
