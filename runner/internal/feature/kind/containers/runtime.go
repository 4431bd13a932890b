// Package containers calls the container runtime of this machine through its
// command, as kind itself does: docker, podman and nerdctl take the same arguments
// for what is needed here.
package containers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
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

// ExitError is the error of a command that has failed, with its stderr.
type ExitError struct {
	Command string // program and verb
	Code    int
	Stderr  string
}

// Error returns the line in which the runtime reports the reason.
func (e *ExitError) Error() string {
	return e.Command + ": " + cmp.Or(e.reason(), fmt.Sprintf("exit code %d", e.Code))
}

// reason returns the last line that is not a hint at --help.
func (e *ExitError) reason() string {
	for _, line := range slices.Backward(strings.Split(e.Stderr, "\n")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "See '") || strings.HasPrefix(line, "Run '") {
			continue
		}
		line = strings.TrimPrefix(line, "docker: ")
		line = strings.TrimPrefix(line, "Error: ")
		return strings.TrimPrefix(line, "Error response from daemon: ")
	}
	return ""
}

// stderrOf returns what a failed command has written, in small letters; "" for another error.
func stderrOf(err error) string {
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return strings.ToLower(exit.Stderr)
	}
	return ""
}

func says(err error, phrases ...string) bool {
	text := stderrOf(err)
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
}

// Unreachable reports whether the runtime's daemon does not answer.
func Unreachable(err error) bool {
	return says(err, "cannot connect to the docker daemon", "is the docker daemon running",
		"cannot connect to podman", "failed to connect to", "rootless containerd not running",
		"cannot access containerd socket", "error during connect")
}

// Forbidden reports whether this user may not use the daemon.
func Forbidden(err error) bool {
	return says(err, "permission denied while trying to connect", "permission denied")
}

// missing reports whether a container, network, volume or image does not exist.
func missing(err error) bool {
	return says(err, "no such container", "no such object", "no container with name or id", "no such network",
		"network not found", "no such volume", "no such image", "no such id", "unable to find network", "not found")
}

// unlessMissing returns the error of a removal, or nil if nothing was there to remove.
func unlessMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}

// portInError finds the port in an error of docker, Docker Desktop or podman. The
// address before the port may have colons, too.
var portInError = regexp.MustCompile(`:(\d+)(?:: bind| failed)|port tcp \S*?:(\d+) ->` +
	`|host port (?:for )?[^ /]*?:(\d+)[:/]`)

// PortTaken returns the port that another program or container holds, "unknown", or
// "" if the error is about something else.
func PortTaken(err error) string {
	if !says(err, "port is already allocated", "address already in use", "ports are not available") {
		return ""
	}
	if match := portInError.FindStringSubmatch(stderrOf(err)); match != nil {
		return strings.Join(match[1:], "") // one group has matched
	}
	return "unknown"
}

// Info describes a runtime and its machine, which is another one than this with
// Docker Desktop or a remote daemon.
type Info struct {
	Version       string
	CgroupVersion string // "1" or "2"; "" if unknown
	Memory        int64  // bytes of memory of the machine; 0 if unknown
	Root          string // directory of images and containers
	Rootless      bool
}

// Info asks the runtime's daemon. It returns an error if that does not answer.
func (r *Runtime) Info(ctx context.Context) (Info, error) {
	if r.Name == "podman" {
		return r.podmanInfo(ctx)
	}
	return r.dockerInfo(ctx)
}

// info are the arguments for all runtimes.
var info = []string{"info", "--format", "{{json .}}"}

// dockerInfo reads the information of docker and nerdctl.
func (r *Runtime) dockerInfo(ctx context.Context) (Info, error) {
	answer, err := ask[struct {
		ServerVersion, CgroupVersion, DockerRootDir string
		MemTotal                                    int64
		SecurityOptions                             []string
		ServerErrors                                []string
	}](ctx, r, info...)
	if err != nil {
		return Info{}, err
	}
	if len(answer.ServerErrors) > 0 { // some versions exit with 0 all the same
		return Info{}, &ExitError{Command: r.Name + " info", Code: 1, Stderr: strings.Join(answer.ServerErrors, "\n")}
	}
	return Info{
		Version: answer.ServerVersion, CgroupVersion: answer.CgroupVersion, Memory: answer.MemTotal,
		Root: answer.DockerRootDir, Rootless: slices.Contains(answer.SecurityOptions, "name=rootless"),
	}, nil
}

func (r *Runtime) podmanInfo(ctx context.Context) (Info, error) {
	answer, err := ask[struct {
		Host struct {
			CgroupVersion string
			MemTotal      int64
			Security      struct{ Rootless bool }
		}
		Store   struct{ GraphRoot string }
		Version struct{ Version string }
	}](ctx, r, info...)
	if err != nil {
		return Info{}, err
	}
	return Info{
		Version: answer.Version.Version, CgroupVersion: strings.TrimPrefix(answer.Host.CgroupVersion, "v"),
		Memory: answer.Host.MemTotal, Root: answer.Store.GraphRoot, Rootless: answer.Host.Security.Rootless,
	}, nil
}
