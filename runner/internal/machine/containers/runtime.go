// Package containers calls the container runtime of this machine through its
// command, as kind itself does: docker, podman and nerdctl take the same arguments
// for what is needed here.
package containers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"mara/runner/internal/machine/process"
)

// Names lists the runtimes that kind supports, in kind's order of preference.
func Names() []string { return []string{"docker", "nerdctl", "podman"} }

// Command is one call of a runtime.
type Command struct {
	Name   string // the program
	Args   []string
	Stdin  io.Reader // nil for none
	Stdout io.Writer
}

// Runner runs a command. Every command of this package goes through it; the error of
// a command that has failed is an *ExitError.
type Runner func(ctx context.Context, c Command) error

// Runtime is a container runtime.
type Runtime struct {
	Name string
	run  Runner
}

// New returns the runtime with the given command; it runs nothing.
func New(name string, run Runner) *Runtime { return &Runtime{Name: name, run: run} }

// Find returns the requested runtime, or the first one that look finds. It does not
// ask the daemons.
func Find(name string, look func(name string) bool, run Runner) (*Runtime, error) {
	if name != "" {
		if !look(name) {
			return nil, fmt.Errorf(
				"there is no %s on the PATH: install it, or choose another container runtime (kind:runtime)", name)
		}
		return New(name, run), nil
	}
	for _, candidate := range Names() {
		if look(candidate) {
			return New(candidate, run), nil
		}
	}
	return nil, fmt.Errorf("there is no container runtime on the PATH: install one of %s", strings.Join(Names(), ", "))
}

// FindIn finds a runtime on the PATH of an environment, in which its commands then
// run.
func FindIn(env map[string]string, name string) (*Runtime, error) {
	onPath := func(name string) bool {
		_, err := process.Find(name, "", env["PATH"])
		return err == nil
	}
	return Find(name, onPath, In(env))
}

// OnPath reports whether a program is on the PATH.
func OnPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// Run starts the program, in this process's environment, and waits for it.
// When ctx ends it is killed.
func Run(ctx context.Context, c Command) error { return run(ctx, c, c.Name, nil) }

func run(ctx context.Context, c Command, path string, env []string) error {
	cmd := exec.CommandContext(ctx, path, c.Args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = c.Stdin, c.Stdout, &stderr, env
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if cmd.ProcessState == nil {
		return fmt.Errorf("%s could not be started: %w", c.Name, err)
	}
	return &ExitError{Command: c.Name + " " + verb(c.Args), Code: cmd.ProcessState.ExitCode(), Stderr: stderr.String()}
}

// In returns a Runner that finds programs on the PATH of env and runs them in env.
func In(env map[string]string) Runner {
	entries := process.Environ(env)
	return func(ctx context.Context, c Command) error {
		path, err := process.Find(c.Name, "", env["PATH"])
		if err != nil {
			return err
		}
		return run(ctx, c, path, entries)
	}
}

// verb returns what a command does, without its arguments: they may be long, and may
// hold secrets.
func verb(args []string) string {
	switch {
	case len(args) == 0:
		return ""
	case len(args) > 1 && (args[0] == "container" || args[0] == "network" || args[0] == "volume" || args[0] == "image"):
		return args[0] + " " + args[1]
	}
	return args[0]
}

// output runs a command of the runtime and returns its output.
func (r *Runtime) output(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	var stdout bytes.Buffer
	err := r.run(ctx, Command{Name: r.Name, Args: args, Stdin: stdin, Stdout: &stdout})
	return strings.TrimSpace(stdout.String()), err
}

// ask runs a command of the runtime and decodes its output as JSON.
func ask[T any](ctx context.Context, r *Runtime, args ...string) (answer T, err error) {
	text, err := r.output(ctx, nil, args...)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return answer, fmt.Errorf("%s %s answered with something else than JSON: %w", r.Name, verb(args), err)
	}
	return answer, nil
}

// silent runs a command of the runtime for its effect.
func (r *Runtime) silent(ctx context.Context, args ...string) error {
	_, err := r.output(ctx, nil, args...)
	return err
}
