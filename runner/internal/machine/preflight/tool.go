package preflight

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mara/runner/internal/machine/process"
)

// tool is another program on this machine.
type tool struct {
	path string
	env  map[string]string
}

// findTool looks for a program on the PATH that Pulumi will have.
func findTool(name string, env map[string]string) (tool, bool) {
	path, err := process.Find(name, "", env["PATH"])
	return tool{path: path, env: env}, err == nil
}

// ask runs the program and returns its output. The error has the last line of its
// stderr.
func (t tool) ask(ctx context.Context, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, t.path, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	command.WaitDelay = 2 * time.Second // its children may hold the pipes open
	process.OwnGroup(command)
	command.Cancel = func() error { process.Kill(command.Process.Pid); return nil } // with its children
	command.Env = process.Environ(t.env)
	err := command.Run()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		if said := lastLine(stderr.String()); said != "" {
			return "", errors.New(said)
		}
		return "", fmt.Errorf("%s: %w", filepath.Base(t.path), err)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// lastLine returns the last line, in which programs report the error.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
