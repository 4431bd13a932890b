package pulumicli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"

	"mara/runner/internal/machine/process"
)

// oldest is the oldest supported Pulumi: the first that streams the engine's events over gRPC,
// as the Automation API expects.
var oldest = semver.Version{Major: 3, Minor: 206}

// versionTime limits `pulumi version`.
const versionTime = 20 * time.Second

// drainTime limits the wait for output after a command has exited: a child process may keep
// the pipe open.
const drainTime = 2 * time.Second

// Installed runs commands with an installed Pulumi, each in its own process.
type Installed struct {
	path    string
	version semver.Version
	grace   time.Duration

	mu      sync.Mutex // guards running
	running map[int]bool
}

var _ auto.PulumiCommand = (*Installed)(nil)

// NewInstalled checks the Pulumi at path, which may be a name on PATH.
func NewInstalled(ctx context.Context, path string) (*Installed, error) {
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("no pulumi at %s: %w", path, bare(err))
	}
	found, err = filepath.Abs(found)
	if err != nil {
		return nil, fmt.Errorf("no pulumi at %s: %w", path, err)
	}
	version, err := askVersion(ctx, found)
	if err != nil {
		return nil, err
	}
	if version.LT(oldest) {
		return nil, fmt.Errorf("%s is Pulumi %s, which is too old; install %s or newer, or leave --pulumi out to use the "+
			"engine inside", found, version, oldest)
	}
	return &Installed{path: found, version: version, grace: grace, running: map[int]bool{}}, nil
}

// bare returns the innermost error, without operation and path.
func bare(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

func askVersion(ctx context.Context, path string) (semver.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	command := exec.CommandContext(ctx, path, "version")
	command.Env = commandEnv(nil)
	command.WaitDelay = time.Second
	output, err := command.Output()
	if err != nil {
		return semver.Version{}, fmt.Errorf("asking %s for its version: %w", path, bare(err))
	}
	text := strings.TrimSpace(string(output))
	version, err := semver.ParseTolerant(text)
	if err != nil {
		first, _, _ := strings.Cut(text, "\n")
		return semver.Version{}, fmt.Errorf("%s does not answer as pulumi: %q is not a version", path, first)
	}
	return version, nil
}

// Version returns the version of the installed Pulumi.
func (i *Installed) Version() semver.Version { return i.version }

// Run runs one command. Cancelling ctx has the same effect as in Pool.Run.
func (i *Installed) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer,
	env []string, args ...string,
) (string, string, int, error) {
	if ctx.Err() != nil {
		return "", "", unknownExit, context.Cause(ctx)
	}
	out, errs := newSinks(stdout), newSinks(stderr)
	command := exec.Command(i.path, nonInteractive(args)...)
	command.Dir, command.Stdin, command.Stdout, command.Stderr = dir, stdin, out, errs
	command.Env = append(commandEnv(env), "PATH="+filepath.Dir(i.path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	process.OwnGroup(command)
	command.WaitDelay = drainTime
	if err := i.start(command); err != nil {
		return "", "", unknownExit, fmt.Errorf("starting %s: %w", i.path, err)
	}
	err := i.wait(ctx, command, args)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return out.String(), errs.String(), exit.ExitCode(), &ExitError{Code: exit.ExitCode()}
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return out.String(), errs.String(), unknownExit, fmt.Errorf("the pulumi process ended in the middle of the "+
			"operation: %w", err)
	}
	return out.String(), errs.String(), 0, nil
}

// start starts a command and registers it for Kill.
func (i *Installed) start(command *exec.Cmd) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := command.Start(); err != nil {
		return err
	}
	i.running[command.Process.Pid] = true
	return nil
}

func (i *Installed) wait(ctx context.Context, command *exec.Cmd, args []string) error {
	stop := cancelWith(ctx, command.Process.Pid, args, i.grace)
	defer stop()
	err := command.Wait()
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.running, command.Process.Pid)
	return err
}

// Kill kills all running commands. Their locks may remain.
func (i *Installed) Kill() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for pid := range i.running {
		process.Kill(pid)
	}
}

// Warm does nothing: a process is started for each command.
func (i *Installed) Warm(int) {}

// Close does nothing: no process outlives its command.
func (i *Installed) Close() error { return nil }

// Unlock does nothing: each process derives the keys that it needs.
func (i *Installed) Unlock(string, []byte) {}
