// Package programhost starts pulumi-language-mara, which serves the built-in programs to all
// engines of a session.
package programhost

import (
	"cmp"
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

	"mara/projects/model"
	"mara/projects/model/wire"
	"mara/runner/internal/machine/process"
)

// name is the file name of the host.
const name = "pulumi-language-" + model.Runtime

// variable is the environment variable with the addresses of running language hosts.
const variable = "PULUMI_DEBUG_LANGUAGES"

// closeTime is how long Close waits for the host to exit.
const closeTime = 5 * time.Second

// lastWords is how long a host that does not serve programs may take to exit.
const lastWords = time.Second

// Find returns the path of the host in the first directory that has it, or else on PATH.
func Find(dirs []string) (string, error) {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("there is no %s, which has the built-in programs; install it next to runner, or put it on PATH",
		name)
}

// Options are the inputs of Start.
type Options struct {
	Path     string // path of the host
	Root     string // base of relative paths in the configuration
	Provider string // default for the configuration
	// Ran is called with the duration of each program.
	Ran func(project string, took time.Duration)
	// Ended is called if the host exits before Close.
	Ended func(error)
}

// Host is a running host.
type Host struct {
	options Options
	process *exec.Cmd
	stdin   io.Closer // closing it ends the host
	crash   process.Output
	closing atomic.Bool

	ready chan struct{} // closed when the next fields are set
	hello wire.Hello
	err   error // why it does not serve programs

	done chan struct{} // closed when the process has ended
}

// Start starts the host in the background. The host has its own process group, so that Ctrl-C
// does not interrupt programs.
func Start(o Options) (*Host, error) {
	h := &Host{options: o, ready: make(chan struct{}), done: make(chan struct{})}
	h.process = exec.Command(o.Path, "--"+wire.RunnerFlag, "--"+wire.RootFlag, o.Root, "--"+wire.ProviderFlag, o.Provider)
	h.process.Stderr = &h.crash
	process.OwnGroup(h.process)
	stdout, err := h.process.StdoutPipe()
	if err == nil {
		h.stdin, err = h.process.StdinPipe()
	}
	if err == nil {
		err = h.process.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", o.Path, err)
	}
	go h.listen(json.NewDecoder(stdout))
	return h, nil
}

// listen reads the messages of the host until it exits.
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
	ended := cmp.Or(h.process.Wait(), io.EOF) // a process may exit without an error
	if !h.closing.Load() && h.options.Ended != nil {
		h.options.Ended(fmt.Errorf("%s exited during the run: %w%s", name, ended, h.crash.Note()))
	}
}

// greet reads the address of the programs. It kills a host that does not serve them.
func (h *Host) greet(said *json.Decoder) error {
	if err := said.Decode(&h.hello); err != nil {
		timer := time.AfterFunc(lastWords, h.kill)
		defer timer.Stop()
		_ = h.process.Wait() // so that its output is complete
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

// Attach waits until programs are served, and adds the variable that makes Pulumi's commands
// use the host.
func (h *Host) Attach(env map[string]string) error {
	<-h.ready
	if h.err != nil {
		return h.err
	}
	attach := fmt.Sprintf("%s:%d", model.Runtime, h.hello.Port)
	if others := env[variable]; others != "" {
		attach += "," + others
	}
	env[variable] = attach
	return nil
}

// Close ends the host and waits for its exit. It waits a little for a running program.
func (h *Host) Close() error {
	h.closing.Store(true)
	err := h.stdin.Close()
	if errors.Is(err, os.ErrClosed) { // it has already exited
		err = nil
	}
	timer := time.AfterFunc(closeTime, h.kill)
	defer timer.Stop()
	<-h.done
	return err
}

// kill kills the host and the processes that its programs have started.
func (h *Host) kill() { process.Kill(h.process.Process.Pid) }
